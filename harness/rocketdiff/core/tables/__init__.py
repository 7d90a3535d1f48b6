"""The closed sets of the product, one table each; formats, help and reports are made from them."""
