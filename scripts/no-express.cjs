// In the place of Express in swagger-ui-express, which asks it for a handler of files that the program never uses.
exports.static = () => undefined;
