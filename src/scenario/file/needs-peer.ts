/** Tells from the content of a scenario file whether it takes a peer that somebody else starts. */
import { isJsonObject } from '../../core/json-object.ts';

type Members = Readonly<Record<string, unknown>>;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const objectsOf = (value: unknown): readonly Members[] => listOf(value).filter(isJsonObject);

/** Steps and rules, those within loops and rules included. */
function* entriesOf(entries: unknown): Generator<Members> {
  for (const entry of objectsOf(entries)) {
    yield entry;
    yield* entriesOf(entry['steps']);
  }
}

/** Sources of writes that peers make. */
const peerSources: readonly unknown[] = ['modbus', 'csip', 'ocpp', 'dnp3'];

/** Protocols of the peers that a condition waits for; `any`: whichever it is. */
function awaited({ message, write, csip_event: csipEvent, real_timeout: realTimeout }: Members): readonly unknown[] {
  return [
    // the simulated clock stands still for nothing but an answer of a peer
    ...(realTimeout === undefined ? [] : ['any']),
    ...objectsOf(message).map(({ protocol }) => protocol),
    ...objectsOf(write).flatMap(({ source = 'any' }) =>
      source === 'any' || peerSources.includes(source) ? source : [],
    ),
    ...objectsOf(csipEvent).map(() => 'csip'),
  ];
}

const protocolOfRule = (rule: unknown) => (typeof rule === 'string' ? rule.split('.')[0] : 'any');

/** Protocols of the peers that an assertion judges, or whose messages it counts. */
function judged({ messages, sequence, no_findings: none, finding, exercised }: Members): readonly unknown[] {
  return [
    ...objectsOf(messages).flatMap(({ protocol, at_most: max }) => (max === 0 ? [] : protocol)),
    ...objectsOf(sequence).map(({ protocol }) => protocol),
    ...(none === undefined ? [] : [(isJsonObject(none) && none['protocol']) || 'any']),
    ...objectsOf(finding).map(({ rule }) => protocolOfRule(rule)),
    ...(Array.isArray(exercised) ? exercised.map(protocolOfRule) : []),
  ];
}

function* protocolsOf(entry: Members): Generator {
  const [when = {}] = objectsOf(entry['when']);
  for (const condition of [when, ...objectsOf(when['all']), ...objectsOf(when['any'])]) yield* awaited(condition);
  for (const expectation of objectsOf(entry['expect'])) yield* judged(expectation);
}

/** The SunSpec client of the simulator is a Modbus master of its devices. */
const isCallOfClient = ({ request }: Members) =>
  typeof request === 'string' && request.startsWith('POST /sunspec-client');

/**
 * True if the scenario waits for messages, writes or events of a peer, or judges one. A scenario that has the simulator's
 * own client connected brings its Modbus master along.
 */
export function needsPeer({ steps, rules, finally: last, always }: Members): boolean {
  const entries = [steps, rules, last].flatMap((part) => [...entriesOf(part)]);
  const hasOwnMaster = entries.some((entry) => objectsOf(entry['call']).some(isCallOfClient));
  const protocols = [...entries.flatMap((entry) => [...protocolsOf(entry)]), ...objectsOf(always).flatMap(judged)];
  return protocols.some((protocol) => !hasOwnMaster || (protocol !== 'modbus' && protocol !== 'any'));
}
