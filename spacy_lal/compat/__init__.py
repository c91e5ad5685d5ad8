"""Names of other packages for parts of this one."""
