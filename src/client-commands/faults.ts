/** `fault`: injected, listed and cleared. */
import type { EndedFault, Fault, Faults } from '../library/replies.ts';
import { noWords, pairsOf, secondsOf, UsageError } from './call.ts';
import type { Call, ClientCommand } from './call.ts';
import { shown, table } from './output.ts';
import type { Column } from './output.ts';

export interface Kind {
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
export function kindOf(name: string, protocol: string | undefined, kinds: readonly Kind[]): Kind | null {
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

async function inject(call: Call, name: string, words: readonly string[]) {
  const { client, device } = call;
  const pairs = pairsOf(words);
  const { kinds } = (await client.get('faults/kinds')) as { readonly kinds: readonly Kind[] };
  const kind = kindOf(name, pairs.get('protocol'), kinds);
  const typeOf = (parameter: string) => {
    if (parameter === 'points') return 'array';
    return kind?.parameters.find((each) => each.name === parameter)?.type ?? 'any';
  };
  const seconds = secondsOf(call);
  const fault = await client.fault(
    name,
    {
      ...(kind !== null && { protocol: kind.protocol }),
      ...Object.fromEntries([...pairs].map(([parameter, text]) => [parameter, parameterOf(text, typeOf(parameter))])),
      ...(seconds !== null && { duration_s: seconds }),
    },
    device,
  );
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

async function clear({ client }: Call) {
  const before: Faults = await client.get('faults');
  const ended: readonly EndedFault[] = await client.clearFaults();
  return { document: ended, lines: [`${before.total} of ${before.total} faults cleared`] };
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
