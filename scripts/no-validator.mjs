/**
 * In the place of the platform of the MCP library, which brings ajv a second time. It checks answers of a person to
 * questions of a server, and ours asks none.
 */
import process from 'node:process';

class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('the MCP server asks no questions');
  }
}

export { DefaultJsonSchemaValidator, process };
