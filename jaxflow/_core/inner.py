"""The packages of the library beneath its public functions, by the beginnings of their modules' names."""

PACKAGES = ("jaxflow._core.", "jaxflow._plans.", "jaxflow._ops.", "jaxflow._transforms.", "jaxflow._shapes.",
            "jaxflow._exec.", "jaxflow._views.", "jaxflow._dispatch.", "jaxflow._memory.", "jaxflow._writes.",
            "jaxflow._publish.")
