/** `fault`: injected, listed and cleared. */
import type { Client } from '../library/client.ts';
import type { EndedFault, Fault, Faults } from '../library/replies.ts';
import { noWords, pairsOf, secondsOf, UsageError } from './call.ts';
import type { Call, ClientCommand } from './call.ts';
import { shown, table } from './output.ts';
import type { Column } from './output.ts';

interface Kind {
  readonly protocol: string;
  readonly kind: string;
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
  readonly targets: readonly string[];
}

const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;

/** A parameter in the type of the catalogue: a list has commas between its elements. */
export function parameterOf(text: string, type: string): unknown {
  const number = plainNumber.test(text) ? Number(text) : text;
  if (type === 'array')
    return text.split(',').map((element) => (plainNumber.test(element) ? Number(element) : element));
  if (type === 'boolean')
    return text === 'yes' || text === 'true' ? true : text === 'no' || text === 'false' ? false : text;
  return type === 'string' ? text : number;
}

/** The kind in the catalogue; with several protocols the one of the parameter. @throws UsageError */
function kindOf(name: string, protocol: unknown, kinds: readonly Kind[]): Kind | null {
  const rows = kinds.filter(({ kind }) => kind === name);
  const row =
    protocol === undefined && rows.length > 1
      ? null
      : rows.find((each) => protocol === undefined || each.protocol === protocol);
  if (row === null)
    throw new UsageError(
      `${name} is a fault of several protocols. Add protocol=${rows.map((each) => each.protocol).join('|')}.`,
    );
  return row ?? null;
}

interface Injection {
  readonly name: string;
  /** undefined: the only one that has the kind */
  readonly protocol: unknown;
  /** simulated; null: until it is cleared */
  readonly seconds: number | null;
  /** @param kind null: the catalogue does not have it, and the simulator refuses it */
  readonly parameters: (kind: Kind | null) => Readonly<Record<string, unknown>>;
}

/** @throws UsageError for a kind of several protocols without `protocol` */
export async function injectFault(
  { client, device }: Pick<Call, 'client' | 'device'>,
  { name, protocol, seconds, parameters }: Injection,
): Promise<Fault> {
  const { kinds } = (await client.get('faults/kinds')) as { readonly kinds: readonly Kind[] };
  const kind = kindOf(name, protocol, kinds);
  return client.fault(
    name,
    {
      ...(kind !== null && { protocol: kind.protocol }),
      ...parameters(kind),
      ...(seconds !== null && { duration_s: seconds }),
    },
    device,
  );
}

/** Members that a fault of any kind may have. */
export const commonNames = ['protocol', 'device', 'when', 'count', 'duration_s', 'probability', 'every', 'seed'];

/** @throws UsageError for a name that the kind does not take */
function checkParameters({ kind, parameters, targets }: Kind, names: readonly string[]): void {
  const accepted = [...parameters.map(({ name }) => name), ...targets, ...commonNames];
  const wrong = names.find((name) => !accepted.includes(name));
  if (wrong === undefined) return;
  throw new UsageError(`${kind} has no parameter ${wrong}. Its parameters: ${accepted.join(', ')}.`);
}

async function inject(call: Call, name: string, words: readonly string[]) {
  const pairs = pairsOf(words);
  const parameters = (kind: Kind | null) => {
    if (kind !== null) checkParameters(kind, [...pairs.keys()]);
    const typeOf = (parameter: string) => {
      if (parameter === 'points') return 'array';
      return kind?.parameters.find((each) => each.name === parameter)?.type ?? 'any';
    };
    return Object.fromEntries([...pairs].map(([parameter, text]) => [parameter, parameterOf(text, typeOf(parameter))]));
  };
  const fault = await injectFault(call, {
    name,
    protocol: pairs.get('protocol'),
    seconds: secondsOf(call),
    parameters,
  });
  return { document: fault, lines: [`fault ${fault.id}: ${fault.protocol} ${fault.kind} is injected`] };
}

const columns: readonly Column<Fault>[] = [
  { head: '#', cell: ({ id }) => String(id), isNumber: true },
  { head: 'protocol', cell: ({ protocol }) => protocol },
  { head: 'kind', cell: ({ kind }) => kind },
  { head: 'device', cell: ({ device_index: index }) => (index === null ? 'all' : String(index)), isNumber: true },
  { head: 'strikes', cell: ({ strikes }) => String(strikes), isNumber: true },
  { head: 'parameters', cell: ({ parameters }) => shown(JSON.stringify(parameters)) },
];

async function list({ client, device }: Call) {
  const document: Faults = await client.get('faults', { query: { ...device } });
  return { document, lines: document.faults.length === 0 ? ['no fault is injected'] : table(columns, document.faults) };
}

/** Ends all faults. */
export async function clearFaults(client: Client) {
  const { total }: Faults = await client.get('faults');
  const ended: readonly EndedFault[] = await client.clearFaults();
  return { total, ended };
}

async function clear({ client }: Call) {
  const { total, ended } = await clearFaults(client);
  return { document: ended, lines: [`${total} of ${total} faults cleared`] };
}

export const fault: ClientCommand = async (call) => {
  const [name, ...words] = call.words;
  if (name === undefined)
    throw new UsageError(
      'the kind is missing. Usage: derbench fault KIND|list|clear; "derbench list faults" has the kinds.',
    );
  if (name !== 'list' && name !== 'clear') return inject(call, name, words);
  noWords(words, `fault ${name}`);
  return name === 'list' ? list(call) : clear(call);
};
