"""Those who train where the text is: a module for each. `corate.engines.spark` is for sessions of Spark."""
