"""The papers' tables and examples, published beside measured: one module an experiment, and a page of all."""
