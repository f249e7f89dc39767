import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Yaml from 'yaml';
import type { CST, Document, ParsedNode, YAMLMap } from 'yaml';
import { checkDescriptorsToRequire } from './errors.ts';
import { memo } from './lazy.ts';
import { packageFile, runsFromBuild } from './package-files.ts';
import { runWhole } from './turns.ts';

const require = createRequire(import.meta.url);

/** The library, loaded with the first text: a start with bundled profiles alone reads no YAML. @throws SimError SHORTAGE */
const library = memo(() => {
  checkDescriptorsToRequire();
  return require('yaml') as typeof Yaml;
});

/**
 * Maximum number of aliases in one file, with the copies that aliases inside of aliases make. Time grows with the
 * square: 50,000 took 20 s.
 */
const maxAliases = 1000;
/** Token of the lexer before the text of a scalar. */
const scalarMark = '\u001f';

/** Tokens of the lexer between two pauses. */
const tokensPerPart = 500;

function tooManyAliases(): Error {
  return new Error(`its aliases make too many copies; allowed: ${maxAliases}`);
}

/** The syntax of a text, without values; yields when other work may run. @throws Error for too many aliases */
function* syntaxOf(text: string, lineCounter: Yaml.LineCounter): Generator<undefined, CST.Token[]> {
  const { Lexer, Parser } = library();
  lineCounter.addNewLine(0);
  const parser = new Parser(lineCounter.addNewLine);
  const syntax: CST.Token[] = [];
  let [aliases, tokens, previous] = [0, 0, ''];
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('*') && previous !== scalarMark) aliases += 1;
    if (aliases > maxAliases) throw tooManyAliases();
    previous = token;
    syntax.push(...parser.next(token));
    tokens += 1;
    if (tokens % tokensPerPart === 0) yield;
  }
  syntax.push(...parser.end());
  return syntax;
}

/** A parsed document, and the lines of its parts. */
export interface YamlText {
  readonly value: unknown;
  /** Line of a key or list entry, from 1; for a path that does not exist, the line of its innermost existing part. */
  lineOf(path: readonly PropertyKey[]): number;
}

type Pair = YAMLMap<ParsedNode, ParsedNode | null>['items'][number];
const pairsByKey = new WeakMap<YAMLMap<ParsedNode, ParsedNode | null>, ReadonlyMap<string, Pair>>();

/** The pair of a key; the pairs of a mapping are read once, since thousands of keys may be sought. */
function pairOf(node: YAMLMap<ParsedNode, ParsedNode | null>, key: string): Pair | undefined {
  const { isScalar } = library();
  const pairs =
    pairsByKey.get(node) ??
    new Map(node.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
  pairsByKey.set(node, pairs);
  return pairs.get(key);
}

/** The part of a node that a step leads to, and the offset at which its key or entry begins. */
function part(node: unknown, step: PropertyKey): { readonly node: unknown; readonly at: number } | null {
  const { isMap, isSeq } = library();
  if (isSeq<ParsedNode>(node)) {
    const item = typeof step === 'number' ? node.items[step] : undefined;
    return item === undefined ? null : { node: item, at: item.range[0] };
  }
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return null;
  const pair = pairOf(node, String(step));
  return pair === undefined ? null : { node: pair.value, at: pair.key.range[0] };
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let [node, at]: [unknown, number] = [document.contents, document.contents?.range[0] ?? 0];
  for (const step of path) {
    const nextPart = part(node, step);
    if (nextPart === null) break;
    ({ node, at } = nextPart);
  }
  return at;
}

/** The first repetition of a key in its mapping, with its offset; null: none. */
function repeatedKey(document: Document.Parsed): { readonly key: unknown; readonly offset: number } | null {
  const { isAlias, isNode, isScalar, visit } = library();
  let repeated: { readonly key: unknown; readonly offset: number } | null = null;
  visit(document, {
    Map(_, { items }) {
      const values = new Set<unknown>();
      for (const { key } of items) {
        const scalar = isAlias(key) ? key.resolve(document) : key;
        if (!isScalar(scalar)) continue;
        if (values.has(scalar.value)) {
          repeated = { key: scalar.value, offset: (isNode(key) ? key.range?.[0] : undefined) ?? 0 };
          return visit.BREAK;
        }
        values.add(scalar.value);
      }
      return undefined;
    },
  });
  return repeated;
}

function newLineCounter(): Yaml.LineCounter {
  const { LineCounter } = library();
  return new LineCounter();
}

/** The error of a document in words for the user; RangeError for nesting beyond the stack. */
function errorOf({ message, pos }: Yaml.YAMLError, lineCounter: Yaml.LineCounter): Error {
  // the parser reports its own stack overflow as an error of the document
  if (message.startsWith('Maximum call stack')) return new RangeError(message);
  const words = message.replace('Unresolved tag: tag:yaml.org,2002:', 'not a type of the core schema: !!');
  const { line, col } = lineCounter.linePos(pos[0]);
  return new Error(`${words} at line ${line}, column ${col}`);
}

/** Yields when other work may run. @throws Error in words for the user; RangeError for nesting beyond the stack */
function* parsingDocument(text: string, lineCounter = newLineCounter()): Generator<undefined, Document.Parsed> {
  const syntax = yield* syntaxOf(text, lineCounter);
  yield;
  const { Composer } = library();
  const composer = new Composer({
    logLevel: 'error',
    schema: 'core',
    resolveKnownTags: false,
    // the library compares each key with all before it: 40,000 keys take half a minute
    uniqueKeys: false,
    lineCounter,
  });
  const [document, further] = composer.compose(syntax, true, text.length);
  yield;
  if (!document) throw new Error('it holds no document');
  const problem = document.errors[0] ?? (further ? undefined : document.warnings[0]);
  if (problem) throw errorOf(problem, lineCounter);
  if (further) throw new Error('it holds more than one document; allowed: one');
  const repeated = repeatedKey(document);
  yield;
  if (repeated !== null) {
    const { line, col } = lineCounter.linePos(repeated.offset);
    throw new Error(
      `the key ${JSON.stringify(repeated.key)} stands twice in its mapping, at line ${line}, column ${col}`,
    );
  }
  return document;
}

/** True if a value contains a cycle. @param above the objects that contain the value */
function holdsItself(value: unknown, above: Set<unknown>, seen: Set<unknown>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (above.has(value)) return true;
  if (seen.has(value)) return false;
  seen.add(value);
  above.add(value);
  const isCyclic = Object.values(value).some((inner) => holdsItself(inner, above, seen));
  above.delete(value);
  return isCyclic;
}

function valueOf(document: Document.Parsed): unknown {
  try {
    // the library counts the anchor too
    const value: unknown = document.toJS({ maxAliasCount: maxAliases + 1 });
    if (holdsItself(value, new Set(), new Set()))
      throw new Error('an alias in it stands inside the mapping or list that it refers to');
    return value;
  } catch (error) {
    throw error instanceof ReferenceError && error.message.startsWith('Excessive alias') ? tooManyAliases() : error;
  }
}

/**
 * Values of YAML files of the package by their text. The build parses them, so that a start does not load the library
 * for its profile; a file that was changed since has another text.
 */
const builtValues = memo((): ReadonlyMap<string, unknown> => {
  if (!runsFromBuild) return new Map();
  return new Map(JSON.parse(readFileSync(packageFile('dist/yaml.json'), 'utf8')) as [text: string, value: unknown][]);
});

/**
 * One document of YAML 1.2 in the core schema. Other types (`!!omap`, `!!set`, `!!binary`, own tags) are refused: they
 * would become objects without members, which look like an empty mapping.
 * @param values of texts that were parsed before
 * @throws Error in words for the user; RangeError for nesting beyond the stack
 */
export function parseYaml(text: string, values: ReadonlyMap<string, unknown> = builtValues()): unknown {
  const built = values.get(text);
  return built === undefined ? valueOf(runWhole(parsingDocument(text))) : structuredClone(built);
}

/** As `parseYaml`, in parts: it yields when other work may run. */
export function* parsingYaml(text: string): Generator<undefined, unknown> {
  return valueOf(yield* parsingDocument(text));
}

/** As `parsingYaml`, with the lines of the parts; JSON is YAML too. */
export function* parsingYamlText(text: string): Generator<undefined, YamlText> {
  const lines = newLineCounter();
  const document = yield* parsingDocument(text, lines);
  return {
    value: valueOf(document),
    lineOf: (path) => lines.linePos(offsetOf(document, path)).line,
  };
}

/**
 * A document that `parseYaml` reads as the same value.
 * @param comments lines before it
 */
export function yamlText(value: unknown, comments: readonly string[] = []): string {
  const head = comments.map((line) => `# ${line.replaceAll(/[\r\n]+/g, ' ')}\n`).join('');
  return `${head}${library().stringify(value, { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false })}`;
}
