/** Values of test cases as JSON. A value that JSON cannot hold is an object with one member, whose name begins with $. */

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const specialNumbers = ['NaN', 'Infinity', '-Infinity', '-0'];

function numberToJson(value: number): Json {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return specialNumbers.includes(text) ? { $number: text } : value;
}

function membersToJson(value: object, place: string): Json {
  const members = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, toJson(each, `${place}.${name}`)] as const),
  );
  if (Object.getPrototypeOf(value) === null) return { $bare: members };
  return Object.keys(members).some((name) => name.startsWith('$')) ? { $plain: members } : members;
}

function objectToJson(value: object, place: string): Json {
  if (Array.isArray(value)) return value.map((each, index) => toJson(each, `${place}[${index}]`));
  if (value instanceof Date) return { $date: numberToJson(value.getTime()) };
  if (Buffer.isBuffer(value)) return { $buffer: value.toString('hex') };
  if (value instanceof Uint8Array) return { $octets: Buffer.from(value).toString('hex') };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return membersToJson(value, place);
  throw new TypeError(`${place} is a ${value.constructor.name}, which JSON cannot hold`);
}

/** @throws TypeError for a function, a symbol or an instance of a class */
export function toJson(value: unknown, place = 'case'): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return numberToJson(value);
    case 'bigint':
      return { $bigint: value.toString() };
    case 'undefined':
      return { $undefined: true };
    case 'object':
      return value === null ? null : objectToJson(value, place);
    case 'function':
    case 'symbol':
      throw new TypeError(`${place} is a ${typeof value}, which JSON cannot hold`);
  }
}

const membersFromJson = (members: Json): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members as object).map(([name, each]) => [name, fromJson(each as Json)] as const));

const readers = new Map<string, (content: Json) => unknown>([
  ['$number', Number],
  ['$bigint', (digits) => BigInt(digits as string)],
  ['$undefined', () => undefined],
  ['$date', (ms) => new Date(fromJson(ms) as number)],
  ['$buffer', (hex) => Buffer.from(hex as string, 'hex')],
  ['$octets', (hex) => Uint8Array.from(Buffer.from(hex as string, 'hex'))],
  ['$bare', (members) => Object.assign(Object.create(null) as object, membersFromJson(members))],
  ['$plain', membersFromJson],
]);

/** The value of which `toJson` has made this. */
export function fromJson(json: Json): unknown {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map((each: Json) => fromJson(each));
  const [[name, content] = ['', null], ...further] = Object.entries(json);
  const reader = further.length === 0 ? readers.get(name) : undefined;
  return reader === undefined ? membersFromJson(json) : reader(content);
}
