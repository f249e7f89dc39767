/** `grid` and `weather`. */
import type { Environment, Grid } from '../library/replies.ts';
import { pairsOf, secondsOf, UsageError, valueOf } from './call.ts';
import type { Call, ClientCommand, Result } from './call.ts';

const nullText = 'none';

/** A member of a request: numbers, yes and no, `none` for null, otherwise the word. */
function memberOf(text: string): number | string | boolean | null {
  if (text === nullText) return null;
  if (text === 'yes' || text === 'no') return text === 'yes';
  return valueOf(text);
}

/** Members of a request by short or full names, with the time of `--for`. */
function changeOf(
  call: Call,
  words: readonly string[],
  shortNames: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const pairs = [...pairsOf(words)].map(([name, text]) => [shortNames[name] ?? name, memberOf(text)] as const);
  const seconds = secondsOf(call);
  return { ...Object.fromEntries(pairs), ...(seconds !== null && { duration_s: seconds }) };
}

/** Lines of the members that are values; null is left out. */
function memberLines(reply: object): readonly string[] {
  return Object.entries(reply)
    .filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value))
    .map(
      ([name, value]) =>
        `${name.padEnd(24)}${typeof value === 'number' ? Number(value.toPrecision(6)) : String(value)}`,
    );
}

function gridLines(grid: Grid): readonly string[] {
  const event = grid.event as { readonly name?: string } | null;
  return [...memberLines(grid), ...(event === null ? [] : [`${'event'.padEnd(24)}${event.name ?? 'running'}`])];
}

const gridNames = { voltage: 'voltage_pu', frequency: 'frequency_hz', angle: 'phase_angle_deg', ramp: 'ramp_s' };
const weatherNames = {
  irradiance: 'irradiance_w_m2',
  temperature: 'ambient_temperature_c',
  cell: 'cell_temperature_c',
  load: 'load_kw',
  ramp: 'ramp_s',
};

/** The nominal frequency: ranges of the events of a site lie around it. */
async function nominalHz({ client }: Pick<Call, 'client'>): Promise<number> {
  interface Event {
    readonly name: string;
    readonly parameters: readonly { readonly name: string; readonly minimum: number; readonly maximum: number }[];
  }
  const { events } = (await client.get('grid-events')) as { readonly events: readonly Event[] };
  const step = events.find(({ name }) => name === 'frequency_step')?.parameters.find(({ name }) => name === 'to_hz');
  if (step === undefined)
    throw new UsageError('this simulator has no event frequency_step. Use grid voltage=1 frequency=HZ.');
  return (step.minimum + step.maximum) / 2;
}

export async function normalGrid(call: Pick<Call, 'client' | 'device'>): Promise<Grid> {
  const { client, device } = call;
  const frequency = await nominalHz(call);
  await client.gridEvent(null, {}, device);
  return client.grid(
    { voltage_pu: 1, frequency_hz: frequency, phase_angle_deg: 0, outage: false, island: false },
    device,
  );
}

/** Starts an event with the parameters of `--param`. */
function startEvent({ client, device, options }: Call, event: string): Promise<Grid> {
  const pairs = [...pairsOf(options.get('--param') ?? [])].map(([name, text]) => [name, valueOf(text)] as const);
  return client.gridEvent(event, Object.fromEntries(pairs), device);
}

/** @throws UsageError for options that the form of the command does not take */
function refuseOptions({ options }: Call, flags: readonly string[], form: string): void {
  const flag = flags.find((each) => options.has(each));
  if (flag !== undefined) throw new UsageError(`${flag} does not go with ${form}.`);
}

async function changedGrid(call: Call): Promise<Grid> {
  const { client, words, device } = call;
  const [first = '', ...more] = words;
  if (words.length === 0 || first.includes('=')) {
    refuseOptions(call, words.length === 0 ? ['--param', '--for'] : ['--param'], 'values of the grid');
    return client.grid(changeOf(call, words, gridNames), device);
  }
  if (more.length > 0)
    throw new UsageError(
      `${JSON.stringify(more.join(' '))} has no meaning there. Usage: derbench grid EVENT [--param NAME=VALUE]....`,
    );
  refuseOptions(call, first === 'normal' ? ['--param', '--for'] : ['--for'], `grid ${first}`);
  return first === 'normal' ? normalGrid(call) : startEvent(call, first);
}

export const grid: ClientCommand = async (call): Promise<Result> => {
  const document = await changedGrid(call);
  return { document, lines: gridLines(document) };
};

export const weather: ClientCommand = async (call): Promise<Result> => {
  const { client, words, device } = call;
  if (words.length === 0) refuseOptions(call, ['--for'], 'weather without values');
  const change = changeOf(call, words, weatherNames);
  const document: Environment = await client.environment(change, device);
  return { document, lines: memberLines(document) };
};
