"""The figures of Hu et al. 2022, section 6, measured again: the paper's recipes and ours in one picture.

Records, references and judges are not private: they serve simulations. What is compared with them is planned and run
like any other fit. The interface is the verb `tailguard reproduce`; nothing is imported here, so that its help takes no
time.
"""

__all__: list[str] = []
