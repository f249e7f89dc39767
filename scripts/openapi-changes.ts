/** Differences between two OpenAPI 3.1 documents, and the version step that they require; descriptions do not count. */

export type Step = 'major' | 'minor';
/** Clients send requests and read replies: a change that is harmless in one can break the other. */
type Direction = 'request' | 'reply';

interface Rule {
  readonly request: Step;
  readonly reply: Step;
  readonly words: string;
}

const both = (step: Step, words: string): Rule => ({ request: step, reply: step, words });
/** Fewer values than before: breaks the side that sends them. */
const narrower = (words: string): Rule => ({ request: 'major', reply: 'minor', words });
/** More values than before: breaks the side that reads them. */
const wider = (words: string): Rule => ({ request: 'minor', reply: 'major', words });

export const rules = {
  operationRemoved: both('major', 'the operation is gone'),
  operationAdded: both('minor', 'a new operation'),
  operationRenamed: both('major', 'the operation has another operationId: {}'),
  successRemoved: both('major', 'the status {} is gone'),
  problemRemoved: both('minor', 'the problem status {} is gone'),
  statusAdded: both('minor', 'a new status {}'),
  mediaRemoved: both('major', 'the media type {} is gone'),
  mediaAdded: both('minor', 'a new media type {}'),
  headerRemoved: both('major', 'the header {} is gone'),
  headerAdded: both('minor', 'a new header {}'),
  bodyRemoved: both('major', 'there is no request body any more'),
  bodyAdded: both('minor', 'there is a request body now'),
  bodyAddedRequired: both('major', 'there is a request body now, and it is required'),
  memberRemoved: both('major', '{} is gone'),
  memberAdded: both('minor', '{} is new'),
  memberAddedRequired: narrower('{} is new, and required'),
  memberRequired: narrower('{} is now required'),
  memberOptional: wider('{} may now be missing'),
  nullAdded: wider('may now be null'),
  nullRemoved: narrower('can no longer be null'),
  kindRemoved: narrower('can no longer be {}'),
  // a member that was always null was a place kept for later: clients have been told that something would come
  kindOfNullAdded: both('minor', 'was always null and may now be {}'),
  kindAdded: wider('may now be {}'),
  fractionRemoved: narrower('must now be an integer'),
  fractionAdded: wider('may now have a fraction'),
  valueRemoved: narrower('the value {} is gone'),
  // clients must expect new words in a reply; the version step announces them
  valueAdded: both('minor', 'a new value {}'),
  valuesFixed: narrower('is now one of fixed values'),
  valuesFreed: both('minor', 'is no longer one of fixed values'),
  rangeNarrowed: narrower('{} is stricter'),
  rangeWidened: both('minor', '{} is looser'),
  formAdded: narrower('{} is another'),
  formRemoved: both('minor', '{} is free'),
  membersClosed: narrower('further members are no longer possible'),
  membersOpened: both('minor', 'further members are possible'),
} as const satisfies Record<string, Rule>;
export type RuleName = keyof typeof rules;

export interface Change {
  readonly rule: RuleName;
  readonly step: Step;
  readonly where: string;
  readonly words: string;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Node = Readonly<Record<string, Json>>;

const isNode = (value: Json | undefined): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const node = (value: Json | undefined): Node => (isNode(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : value === undefined ? [] : [value];
const same = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const isNumeric = ({ type }: Node): boolean => type === 'number' || type === 'integer';

/** One document with its references. */
class Source {
  readonly root: Node;

  constructor(root: Node) {
    this.root = root;
  }

  /** A node without references; members beside a reference, or after it in `allOf`, override it. */
  resolve(value: Json | undefined): Node {
    const { $ref, allOf, ...own } = node(value);
    const parts = list(allOf).map((part) => this.resolve(part));
    const target =
      typeof $ref === 'string'
        ? [
            this.resolve(
              $ref
                .slice(2)
                .split('/')
                .reduce<Json>((at, name) => node(at)[name] ?? {}, this.root),
            ),
          ]
        : [];
    return Object.assign({}, ...target, ...parts, own) as Node;
  }

  /** The kinds of value that a schema permits, each with one type, and whether null is one of them. */
  kinds(schema: Json | undefined): { readonly kinds: readonly Node[]; readonly nullable: boolean } {
    const resolved = this.resolve(schema);
    const alternatives = [...list(resolved['anyOf']), ...list(resolved['oneOf'])];
    const split =
      alternatives.length > 0
        ? alternatives.map((each) => this.kinds(each))
        : [
            {
              kinds: typesOf(resolved)
                .filter((type) => type !== 'null')
                .map((type) => ({ ...resolved, type })),
              nullable: typesOf(resolved).includes('null'),
            },
          ];
    return { kinds: split.flatMap(({ kinds }) => kinds), nullable: split.some(({ nullable }) => nullable) };
  }
}

function typesOf(schema: Node): string[] {
  if (schema['type'] !== undefined) return list(schema['type']).map(String);
  const values = list(schema['enum'] ?? schema['const']);
  return values.length === 0 ? ['any'] : [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
}

/** Bounds as [lower keyword, exclusive one, upper keyword, exclusive one]. */
const bounds = [
  ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'],
  ['minLength', '', 'maxLength', ''],
  ['minItems', '', 'maxItems', ''],
  ['minProperties', '', 'maxProperties', ''],
] as const;

/** Strictness of a bound, ascending: the bound itself, an exclusive one after an inclusive one. */
function cut(schema: Node, keyword: string, exclusive: string, sign: 1 | -1): readonly [number, number] {
  const [at, open] = [schema[keyword], schema[exclusive]];
  if (typeof open === 'number' && (typeof at !== 'number' || open * sign >= at * sign)) return [open * sign, 1];
  return typeof at === 'number' ? [at * sign, 0] : [-Infinity, 0];
}

class Comparison {
  readonly #changes = new Map<string, Change>();
  readonly #old: Source;
  readonly #new: Source;
  readonly #seen = new Set<string>();

  constructor(released: Node, present: Node) {
    this.#old = new Source(released);
    this.#new = new Source(present);
  }

  run(): Change[] {
    this.#pairs(this.#operations(this.#old), this.#operations(this.#new), {
      removed: (name) => this.#note('operationRemoved', name, 'reply'),
      added: (name) => this.#note('operationAdded', name, 'reply'),
      both: (name, before, after) => this.#operation(name, before, after),
    });
    return [...this.#changes.values()].sort((a, b) => (a.step === b.step ? 0 : a.step === 'major' ? -1 : 1));
  }

  #operations({ root }: Source): Node {
    return Object.fromEntries(
      Object.entries(node(root['paths'])).flatMap(([path, item]) =>
        Object.entries(node(item)).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
      ),
    );
  }

  #pairs(
    before: Node,
    after: Node,
    on: {
      removed(name: string, before: Json): void;
      added(name: string, after: Json): void;
      both(name: string, before: Json, after: Json): void;
    },
  ): void {
    for (const [name, value] of Object.entries(before)) {
      const now = after[name];
      if (now === undefined) on.removed(name, value);
      else on.both(name, value, now);
    }
    for (const [name, value] of Object.entries(after)) if (before[name] === undefined) on.added(name, value);
  }

  #note(rule: RuleName, where: string, direction: Direction, what = ''): void {
    const { words, [direction]: step } = rules[rule];
    const change = { rule, step, where, words: words.replace('{}', what) };
    this.#changes.set(`${where} ${direction} ${change.words}`, change);
  }

  #operation(name: string, before: Json, after: Json): void {
    const [was, is] = [node(before), node(after)];
    if (!same(was['operationId'], is['operationId']))
      this.#note('operationRenamed', name, 'request', textOf(is['operationId']));
    this.#parameters(name, was, is);
    this.#body(name, was['requestBody'], is['requestBody']);
    this.#pairs(node(was['responses']), node(is['responses']), {
      removed: (status) =>
        this.#note(status.startsWith('2') ? 'successRemoved' : 'problemRemoved', name, 'reply', status),
      added: (status) => this.#note('statusAdded', name, 'reply', status),
      both: (status, old, now) =>
        this.#response(`${name}, reply ${status}`, this.#old.resolve(old), this.#new.resolve(now)),
    });
  }

  #parameters(name: string, before: Node, after: Node): void {
    const byName = (source: Source, operation: Node): Node =>
      Object.fromEntries(
        list(operation['parameters']).map((each) => {
          const parameter = source.resolve(each);
          return [`${textOf(parameter['in'])} parameter ${textOf(parameter['name'])}`, parameter];
        }),
      );
    this.#pairs(byName(this.#old, before), byName(this.#new, after), {
      removed: (what) => this.#note('memberRemoved', name, 'request', what),
      added: (what, now) =>
        this.#note(node(now)['required'] === true ? 'memberAddedRequired' : 'memberAdded', name, 'request', what),
      both: (what, old, now) => {
        this.#required(name, what, 'request', node(old)['required'] === true, node(now)['required'] === true);
        this.#schema(`${name}, ${what}`, 'request', node(old)['schema'], node(now)['schema']);
      },
    });
  }

  #required(where: string, what: string, direction: Direction, before: boolean, after: boolean): void {
    if (before !== after) this.#note(after ? 'memberRequired' : 'memberOptional', where, direction, what);
  }

  #body(name: string, before: Json | undefined, after: Json | undefined): void {
    const [was, is] = [this.#old.resolve(before), this.#new.resolve(after)];
    if (before === undefined || after === undefined) {
      if (before !== undefined) this.#note('bodyRemoved', name, 'request');
      else if (after !== undefined)
        this.#note(is['required'] === true ? 'bodyAddedRequired' : 'bodyAdded', name, 'request');
      return;
    }
    this.#required(name, 'the request body', 'request', was['required'] === true, is['required'] === true);
    this.#content(`${name}, request body`, 'request', was, is);
  }

  #response(where: string, before: Node, after: Node): void {
    this.#pairs(node(before['headers']), node(after['headers']), {
      removed: (header) => this.#note('headerRemoved', where, 'reply', header),
      added: (header) => this.#note('headerAdded', where, 'reply', header),
      both: (header, was, is) =>
        this.#schema(`${where}, ${header}`, 'reply', this.#old.resolve(was)['schema'], this.#new.resolve(is)['schema']),
    });
    this.#content(where, 'reply', before, after);
  }

  #content(where: string, direction: Direction, before: Node, after: Node): void {
    this.#pairs(node(before['content']), node(after['content']), {
      removed: (type) => this.#note('mediaRemoved', where, direction, type),
      added: (type) => this.#note('mediaAdded', where, direction, type),
      both: (_type, was, is) => this.#schema(where, direction, node(was)['schema'], node(is)['schema']),
    });
  }

  /** A schema with a name is compared once for each direction, and reported under its name. */
  #schema(where: string, direction: Direction, before: Json | undefined, after: Json | undefined): void {
    const [was, is] = [node(before)['$ref'], node(after)['$ref']];
    const pair = `${direction} ${textOf(was)} ${textOf(is)}`;
    if (is !== undefined && this.#seen.has(pair)) return;
    this.#seen.add(pair);
    const place = is === undefined ? where : `${direction} ${textOf(is).split('/').at(-1) ?? ''}`;
    const [old, now] = [this.#old.kinds(before), this.#new.kinds(after)];
    if (old.nullable !== now.nullable) this.#note(now.nullable ? 'nullAdded' : 'nullRemoved', place, direction);
    const [left, right] = [[...old.kinds], [...now.kinds]];
    // equal ones first, then of one type in their order, then numbers
    for (const alike of [
      same,
      (a: Node, b: Node) => a['type'] === b['type'],
      (a: Node, b: Node) => isNumeric(a) && isNumeric(b),
    ]) {
      for (const kind of [...left]) {
        const twin = right.find((each) => alike(kind, each));
        if (!twin) continue;
        left.splice(left.indexOf(kind), 1);
        right.splice(right.indexOf(twin), 1);
        // equal text can contain a reference to a schema that differs
        this.#kind(place, direction, kind, twin);
      }
    }
    for (const { type } of left) this.#note('kindRemoved', place, direction, textOf(type));
    const wasNull = old.nullable && old.kinds.length === 0;
    for (const { type } of right) this.#note(wasNull ? 'kindOfNullAdded' : 'kindAdded', place, direction, textOf(type));
  }

  #kind(where: string, direction: Direction, before: Node, after: Node): void {
    if (before['type'] !== after['type'])
      this.#note(after['type'] === 'number' ? 'fractionAdded' : 'fractionRemoved', where, direction);
    this.#values(where, direction, before, after);
    for (const [lower, openLower, upper, openUpper] of bounds) {
      this.#bound(where, direction, lower, cut(before, lower, openLower, 1), cut(after, lower, openLower, 1));
      this.#bound(where, direction, upper, cut(before, upper, openUpper, -1), cut(after, upper, openUpper, -1));
    }
    for (const keyword of ['pattern', 'format', 'multipleOf', 'uniqueItems']) {
      if (!same(before[keyword], after[keyword]))
        this.#note(after[keyword] === undefined ? 'formRemoved' : 'formAdded', where, direction, keyword);
    }
    if (before['type'] === 'array') this.#schema(`${where}[]`, direction, before['items'], after['items']);
    if (before['type'] === 'object') this.#members(where, direction, before, after);
  }

  #values(where: string, direction: Direction, before: Node, after: Node): void {
    const valuesOf = (schema: Node) =>
      list(schema['enum'] ?? schema['const'])
        .filter((value) => value !== null)
        .map((value) => JSON.stringify(value));
    const [was, is] = [valuesOf(before), valuesOf(after)];
    if (was.length === 0 || is.length === 0) {
      if (was.length !== is.length) this.#note(was.length === 0 ? 'valuesFixed' : 'valuesFreed', where, direction);
      return;
    }
    for (const value of was) if (!is.includes(value)) this.#note('valueRemoved', where, direction, value);
    for (const value of is) if (!was.includes(value)) this.#note('valueAdded', where, direction, value);
  }

  #bound(
    where: string,
    direction: Direction,
    what: string,
    [was, wasOpen]: readonly [number, number],
    [is, isOpen]: readonly [number, number],
  ): void {
    if (was === is && wasOpen === isOpen) return;
    this.#note(is > was || (is === was && isOpen > wasOpen) ? 'rangeNarrowed' : 'rangeWidened', where, direction, what);
  }

  #members(where: string, direction: Direction, before: Node, after: Node): void {
    const [wasRequired, isRequired] = [list(before['required']), list(after['required'])];
    this.#pairs(node(before['properties']), node(after['properties']), {
      removed: (name) => this.#note('memberRemoved', where, direction, name),
      added: (name) =>
        this.#note(isRequired.includes(name) ? 'memberAddedRequired' : 'memberAdded', where, direction, name),
      both: (name, was, is) => {
        this.#required(where, name, direction, wasRequired.includes(name), isRequired.includes(name));
        this.#schema(`${where}/${name}`, direction, was, is);
      },
    });
    const [was, is] = [before['additionalProperties'] ?? true, after['additionalProperties'] ?? true];
    if ((was === false) !== (is === false))
      this.#note(is === false ? 'membersClosed' : 'membersOpened', where, direction);
    else if (was !== false) this.#schema(`${where}/*`, direction, was, is);
  }
}

/** Every difference between a released document and the present one, those that break clients first. */
export function compareDocuments(released: Node, present: Node): Change[] {
  return new Comparison(released, present).run();
}

/** The mistake in the version of the present document; null if it fits the changes. */
export function versionFault(released: string, present: string, changes: readonly Change[]): string | null {
  const [wasMajor = 0, wasMinor = 0, wasPatch = 0] = released.split('.').map(Number);
  const [major = 0, minor = 0, patch = 0] = present.split('.').map(Number);
  const step = major !== wasMajor ? major - wasMajor : minor !== wasMinor ? minor - wasMinor : patch - wasPatch;
  if (step < 0) return `version ${present} is lower than the released ${released}`;
  if (changes.some((change) => change.step === 'major') && major === wasMajor)
    return `clients of ${released} would break: the version must be ${wasMajor + 1}.0.0, not ${present}`;
  if (changes.length > 0 && major === wasMajor && minor === wasMinor)
    return `there is more than in ${released}: the version must be ${wasMajor}.${wasMinor + 1}.0, not ${present}`;
  return null;
}
