"""The pages: views and forms. Each view parses its request, calls a query or an action, and renders the result."""
