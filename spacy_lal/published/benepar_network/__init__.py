"""The Berkeley Neural Parser (Kitaev and Klein 2018, Kitaev et al. 2019), as in its releases."""
