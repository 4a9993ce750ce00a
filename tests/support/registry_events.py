"""Every kind of event, and trees of them. A new event joins the contract suite here."""

from hypothesis import strategies as st

from tailguard.privacy import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential

LEAVES: dict[str, Event] = {
    "gaussian": Gaussian(20.0),
    "discrete gaussian": Gaussian(20.0, distance=1e-14),
    "coarse gaussian": Gaussian(20.0, distance=1e-3),
    "laplace": Laplace(30.0),
    "bounded range": BoundedRange(0.05),
    "pure": Pure(0.03),
}

TREES: dict[str, Event] = {
    "selections, then noise": Sequential((Repeat(BoundedRange(0.05), 4), Gaussian(10.0, 1e-15))),
    "blocks": Disjoint((Gaussian(5.0), Pure(0.2))),
    "blocks inside a sequence": Sequential(
        (Gaussian(8.0), Disjoint((Gaussian(9.0), BoundedRange(0.1))), Laplace(20.0))
    ),
    "repeated blocks": Repeat(Disjoint((Gaussian(9.0), Pure(0.1), BoundedRange(0.2))), 3),
}

ALL = LEAVES | TREES

leaves: st.SearchStrategy[Event] = st.one_of(
    st.builds(Gaussian, st.floats(0.05, 1e3), st.sampled_from([0.0, 1e-18, 1e-9])),
    st.builds(Laplace, st.floats(0.1, 1e3)),
    st.builds(BoundedRange, st.floats(1e-3, 5.0)),
    st.builds(Pure, st.floats(1e-3, 5.0)),
)


def _branching(children: st.SearchStrategy[Event]) -> st.SearchStrategy[Event]:
    several = st.lists(children, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Repeat, children, st.integers(1, 3)), st.builds(Sequential, several), st.builds(Disjoint, several)
    )


trees: st.SearchStrategy[Event] = st.recursive(leaves, _branching, max_leaves=5)
