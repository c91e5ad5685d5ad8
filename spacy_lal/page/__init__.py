"""A page for the browser, with `POST /parse`. Only this folder imports a web server."""
