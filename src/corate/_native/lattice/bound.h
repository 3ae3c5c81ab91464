// Lattices as Python hands them over: checked when they are made, with the arrays that they point into.
#pragma once

#include "bindings.h"
#include "lattice/lattice.h"

struct BoundLattice : Lattice {
    BoundLattice(In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores, Matrix pair,
                 In<int64_t> edges, In<double> edge_scores)
        : Lattice{sentences.data(),
                  positions.data(),
                  labels.data(),
                  scores.data(),
                  pair.data(),
                  edges.data(),
                  edge_scores.data(),
                  int64_t(sentences.size()) - 1,
                  int64_t(positions.size()) - 1,
                  int64_t(labels.size()),
                  int64_t(pair.shape(0)),
                  int64_t(edge_scores.size())},
          kept(sentences, positions, labels, scores, pair, edges, edge_scores) {
        require(sentences.size() > 0 && positions.size() > 0, "offsets need at least one entry");
        require(labels.size() == scores.size(), "as many labels as scores are needed");
        require(edges.size() == positions.size(), "as many edge offsets as position offsets are needed");
        require(pair.shape(0) == pair.shape(1), "the pair scores must be a square matrix");
        check();
    }

    Kept kept;
};
