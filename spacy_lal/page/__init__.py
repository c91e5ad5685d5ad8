"""A page in the browser, and `POST /parse` for programs. Nothing else imports a web server."""
