import { Lexer, parseDocument } from 'yaml';

/** Of one file, those that come out of other aliases included. Time grows with the square: 50,000 took 20 s. */
const maxAliases = 1000;
/** The lexer puts it before the text of a scalar. */
const scalarMark = '\u001f';

function aliasesExceed(text: string, limit: number): boolean {
  let aliases = 0;
  let previous = '';
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('*') && previous !== scalarMark) aliases += 1;
    if (aliases > limit) return true;
    previous = token;
  }
  return false;
}

function tooManyAliases(): Error {
  return new Error(`its aliases make too many copies; allowed: ${maxAliases}`);
}

/**
 * One document of YAML 1.2 in the core schema. Other types (`!!omap`, `!!set`, `!!binary`, own tags) are refused: they
 * would become objects without members, which look like an empty mapping.
 * @throws Error in words for the user; RangeError for nesting beyond the stack
 */
export function parseYaml(text: string): unknown {
  if (aliasesExceed(text, maxAliases)) throw tooManyAliases();
  const document = parseDocument(text, {
    logLevel: 'error',
    prettyErrors: true,
    schema: 'core',
    resolveKnownTags: false,
  });
  const problem = document.errors[0] ?? document.warnings[0];
  // the parser's own text refers to a function of its library
  if (problem?.code === 'MULTIPLE_DOCS') throw new Error('it holds more than one document; allowed: one');
  if (problem) {
    const [message = ''] = problem.message.split('\n');
    // the parser reports its own stack overflow as an error of the document
    if (message.startsWith('Maximum call stack')) throw new RangeError(message);
    throw new Error(message.replace('Unresolved tag: tag:yaml.org,2002:', 'not a type of the core schema: !!'));
  }
  try {
    // the library counts the anchor too
    return document.toJS({ maxAliasCount: maxAliases + 1 });
  } catch (error) {
    throw error instanceof ReferenceError && error.message.startsWith('Excessive alias') ? tooManyAliases() : error;
  }
}
