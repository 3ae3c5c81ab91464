// The kernels, each bound beside its header.

#include "bindings.h"

NB_MODULE(_kernels, m) {
    nb::set_leak_warnings(false); // a model that lives until Python ends is no leak
    bind_strings(m);
    bind_cells(m);
    bind_views(m);
    bind_counts(m);
    bind_packing(m);
    bind_rates(m);
    bind_weighing(m);
    bind_decode(m);
    bind_forest(m);
    bind_second_order(m);
    bind_chains(m);
}
