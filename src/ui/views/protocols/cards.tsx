/** A card for each protocol: its switch, the address for the other side, peers, traffic and last error. */
import { get, post } from '../../api/call';
import type { Call } from '../../api/call';
import { Refused, useDo } from '../../kit/action';
import { CallLine } from '../../kit/api-switch';
import { CopyButton } from '../../kit/copies';
import { say } from '../../kit/notice';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { NoValue } from '../../kit/states';
import { fixed, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';
import { go, href } from '../../store/route';
import { useOverview } from '../../store/site';
import type { DeviceEntry, Overview } from '../../store/site';
import { addressText } from './connect-values';
import { masterText } from './dnp3/dnp3';
import { useRate } from './rate';
import { useOffQuestion, useProtocol } from './switch';
import { whyLocked } from '../../kit/settings';

type Comm = Overview['comm_status'][keyof Overview['comm_status']];

interface CardSpec {
  readonly path: string;
  readonly title: string;
  /** the part that derbench plays in the protocol */
  readonly role: string;
  /** names in `comm_status` */
  readonly comms: readonly (keyof Overview['comm_status'])[];
  /** link to the steps to a peer */
  readonly connect: string | null;
  /** true: the switch needs an address first, which the steps ask for */
  readonly needsPeer: boolean;
  /** name of what to give to the other side */
  readonly addressName: string;
  readonly useAddress: (isOn: boolean, devices: readonly DeviceEntry[]) => string | null;
  readonly usePeers: (isOn: boolean) => readonly string[];
  /** part with the traffic */
  readonly traffic: readonly [path: string, title: string];
}

const paceMs = 2000;

/** `127.0.0.1:8502 to 8508, unit 1` */
export function modbusAddress(devices: readonly Pick<DeviceEntry, 'modbus'>[]): string | null {
  const all = devices.flatMap(({ modbus }) => modbus ?? []);
  const ports = [...new Set(all.map(({ port }) => port))].sort((a, b) => a - b);
  const [first] = all;
  if (first === undefined) return null;
  const isRow = ports.every((port, index) => index === 0 || port === (ports[index - 1] ?? 0) + 1);
  const last = ports.at(-1) ?? first.port;
  const portText = ports.length === 1 ? String(last) : isRow ? `${ports[0]} to ${last}` : ports.join(', ');
  return `${first.host}:${portText}, ${unitText(all.map(({ unit_id: unit }) => unit))}`;
}

function unitText(all: readonly number[]): string {
  const units = [...new Set(all)];
  return units.length === 1 ? `unit ${units[0]}` : `units ${Math.min(...units)} to ${Math.max(...units)}`;
}

const specs: readonly CardSpec[] = [
  {
    path: 'modbus',
    title: 'Modbus',
    role: 'Server for masters: SunSpec registers of each device',
    comms: ['modbus_tcp', 'modbus_rtu', 'modbus_proxy'],
    connect: 'Connect my master',
    needsPeer: false,
    addressName: 'Address',
    useAddress: (_isOn, devices) => modbusAddress(devices),
    usePeers: (isOn) => {
      const { data } = useLive(isOn ? get('modbus') : null, paceMs);
      const listeners = (data?.interfaces ?? []).flatMap((face) => face.listeners);
      return listeners.flatMap(({ clients }) => clients.map(({ peer }) => peer));
    },
    traffic: ['messages', 'Messages'],
  },
  {
    path: 'csip',
    title: 'CSIP',
    role: 'Client of a head-end, IEEE 2030.5',
    comms: ['csip'],
    connect: 'Connect my head-end',
    needsPeer: true,
    addressName: 'LFDI to register',
    useAddress: (isOn) => useLive(isOn ? get('csip/status') : null, paceMs).data?.lfdi ?? null,
    usePeers: (isOn) => {
      const server = useLive(isOn ? get('csip/status') : null, paceMs).data?.server;
      return server ? [`${server.host}:${server.port}`] : [];
    },
    traffic: ['messages', 'Messages'],
  },
  {
    path: 'ocpp',
    title: 'OCPP',
    role: 'Charge points of a central system',
    comms: ['ocpp'],
    connect: 'Connect my central system',
    needsPeer: true,
    addressName: 'Identity',
    useAddress: (_isOn, devices) => devices.flatMap(({ charge_point_id: id }) => id ?? []).join(', ') || null,
    usePeers: (isOn) => {
      const { data } = useLive(isOn ? get('ocpp') : null, paceMs);
      const urls = (data?.charge_points ?? []).flatMap((each) =>
        each?.connection_state === 'connected' && each.url !== null ? [each.url] : [],
      );
      return [...new Set(urls)];
    },
    traffic: ['messages', 'Messages'],
  },
  {
    path: 'dnp3',
    title: 'DNP3',
    role: 'Outstation of masters, IEEE 1815.2 profile',
    comms: ['dnp3'],
    connect: 'Connect my master',
    needsPeer: false,
    addressName: 'Address',
    useAddress: (isOn) => {
      const linkOf = useLive(isOn ? get('dnp3') : null, paceMs).data?.link;
      const address = addressText(linkOf?.endpoint);
      return address === null ? null : `${address}, link address ${linkOf?.outstation ?? 'unknown'}`;
    },
    usePeers: (isOn) => {
      const { data } = useLive(isOn ? get('dnp3') : null, paceMs);
      return (data?.masters ?? []).flatMap(({ address, peer, connected }) =>
        connected ? [masterText(address, peer)] : [],
      );
    },
    traffic: ['messages', 'Messages'],
  },
  {
    path: 'sunspec-client',
    title: 'SunSpec client',
    role: 'Master of another SunSpec device',
    comms: ['sunspec_client'],
    connect: null,
    needsPeer: true,
    addressName: 'Device it reads',
    useAddress: () => addressText(useLive(get('sunspec-client'), paceMs).data?.endpoint),
    usePeers: () => {
      const { data } = useLive(get('sunspec-client'), paceMs);
      const { manufacturer, model } = data?.identity ?? {};
      return data?.state === 'connected' ? [[manufacturer, model].filter(Boolean).join(' ') || 'connected'] : [];
    },
    traffic: ['samples', 'Samples'],
  },
];

export function Cards() {
  return (
    <div class="protocol-cards">
      {specs.map((spec) => (
        <Card key={spec.path} spec={spec} />
      ))}
    </div>
  );
}

const tones: Readonly<Record<Comm['state'], Tone>> = {
  disabled: 'off',
  stopped: 'off',
  starting: 'warn',
  connecting: 'warn',
  retrying: 'bad',
  error: 'bad',
  listening: 'good',
  connected: 'good',
};

/** The state that needs a look most. */
function worstOf(states: readonly Comm[]): Comm | undefined {
  const order: readonly Tone[] = ['bad', 'warn', 'good', 'off'];
  return [...states].sort((a, b) => order.indexOf(tones[a.state]) - order.indexOf(tones[b.state]))[0];
}

const sumOf = (states: readonly Comm[], of: (state: Comm) => number) =>
  states.reduce((sum, state) => sum + of(state), 0);

/** Names of peers that fit on a card. */
const maxPeers = 3;

function peersText(count: number, names: readonly string[]): string {
  const shown = names.slice(0, maxPeers).join(', ');
  const more = names.length > maxPeers ? ` and ${names.length - maxPeers} more` : '';
  return shown === '' ? String(count) : `${count}: ${shown}${more}`;
}

function Card({ spec }: { readonly spec: CardSpec }) {
  const { path, title, role, comms, addressName, connect, traffic } = spec;
  const overview = useOverview();
  const states = overview === undefined ? [] : comms.map((name) => overview.comm_status[name]);
  const on = states.filter(({ enabled }) => enabled);
  const isOn = on.length > 0;
  const state = worstOf(on);
  const address = spec.useAddress(isOn, overview?.devices ?? []);
  const peers = spec.usePeers(isOn);
  const rate = useRate(overview && sumOf(states, ({ rx_count: rx, tx_count: tx }) => rx + tx));
  const link = (part: string, text: string) => (
    <a href={href(`protocols/${path}/${part}`)}>
      {text}
      <span class="visually-hidden"> of {title}</span>
    </a>
  );
  return (
    <Panel
      title={title}
      tools={
        <>
          <Chip tone={state === undefined ? 'off' : tones[state.state]}>
            {state === undefined ? 'off' : words(state.state)}
          </Chip>
          <Switch spec={spec} />
        </>
      }
    >
      <div class="stack" data-test={`card-${path}`}>
        <p class="muted">{role}</p>
        <Facts
          rows={[
            [
              addressName,
              address === null || !(isOn || path === 'ocpp') ? (
                <NoValue reason={isOn ? 'there is none yet' : `${title} is off`} />
              ) : (
                <span class="row">
                  <code class="of-peer">{address}</code>
                  <CopyButton text={address} name={`${addressName} of ${title}`} />
                </span>
              ),
            ],
            [
              'Peers',
              isOn ? (
                <span class="of-peer">
                  {peersText(
                    Math.max(
                      sumOf(on, (each) => each.peers),
                      peers.length,
                    ),
                    peers,
                  )}
                </span>
              ) : (
                <NoValue reason={`${title} is off`} />
              ),
            ],
            [
              'Messages per minute',
              isOn && rate !== null ? (
                fixed(rate, 0)
              ) : (
                <NoValue reason={isOn ? 'counted for less than 4 s' : `${title} is off`} />
              ),
            ],
            ['Last message', isOn ? wallTime(lastOf(on)) : <NoValue reason={`${title} is off`} />],
            ['Last error', isOn ? <LastError state={state} states={on} /> : <NoValue reason={`${title} is off`} />],
          ]}
        />
        <p class="row card-links">
          {link(traffic[0], traffic[1])}
          {link(
            path === 'sunspec-client' ? 'state' : 'settings',
            path === 'sunspec-client' ? 'Connection' : 'Settings',
          )}
          {connect !== null && link('connect', connect)}
        </p>
      </div>
    </Panel>
  );
}

/** Wall time of the newest message of all interfaces. */
const lastOf = (states: readonly Comm[]): string | null =>
  states
    .flatMap(({ last_activity: at }) => at ?? [])
    .sort()
    .at(-1) ?? null;

/** The present trouble in words, else the last error of those counted with its time; both with their number. */
function LastError({ states, state }: { readonly states: readonly Comm[]; readonly state: Comm | undefined }) {
  const errors = sumOf(states, ({ error_count: count }) => count);
  const isTrouble = state !== undefined && tones[state.state] === 'bad';
  const [last] = states
    .filter(({ last_error }) => last_error !== null)
    .sort((a, b) => (b.last_error_at ?? '').localeCompare(a.last_error_at ?? ''));
  if (isTrouble) return <span class="bad of-peer">{state.detail ?? words(state.state)}</span>;
  if (last === undefined) return <>{errors === 0 ? 'none' : `none now, ${errors} since the start`}</>;
  return (
    <span class="of-peer">
      {last.last_error}, at {wallTime(last.last_error_at)}
      {errors > 1 && `; ${errors} since the start`}
    </span>
  );
}

/** Switches a protocol on where it needs nothing more, else leads to the steps; asks before it switches off. */
function Switch({ spec }: { readonly spec: CardSpec }) {
  const inUse = useProtocol(spec.path);
  if (spec.path === 'sunspec-client') return <ClientSwitch spec={spec} />;
  return inUse === undefined ? null : <ProtocolSwitch spec={spec} inUse={inUse} />;
}

interface ProtocolSwitchProps {
  readonly spec: CardSpec;
  readonly inUse: NonNullable<ReturnType<typeof useProtocol>>;
}

function ProtocolSwitch({ spec, inUse: { protocol, report, isOn } }: ProtocolSwitchProps) {
  const call = isOn ? post(`${protocol.path}/disable`) : post(`${protocol.path}/enable`, { body: {} });
  const steps = spec.needsPeer ? `protocols/${spec.path}/connect` : null;
  const question = useOffQuestion(protocol);
  return <Toggle {...{ isOn, call, steps, question }} title={protocol.title} locked={whyLocked(report)} />;
}

/** The client is on while it has a device; its switch leads to the form that names one. */
function ClientSwitch({ spec: { title } }: { readonly spec: CardSpec }) {
  const { data } = useLive(get('sunspec-client'), paceMs);
  if (data === undefined) return null;
  const call = post('sunspec-client/disconnect');
  const question = `Switch off ${title}? It leaves its device, and polling ends.`;
  return (
    <Toggle {...{ title, call, question }} isOn={data.enabled} steps="protocols/sunspec-client/state" locked={null} />
  );
}

interface ToggleProps {
  readonly title: string;
  readonly isOn: boolean;
  /** made by a press; while it is off only without `steps` */
  readonly call: Call;
  /** view that a press leads to while it is off; null: it needs nothing more */
  readonly steps: string | null;
  /** asked before it is switched off */
  readonly question: string;
  /** reason why it cannot be switched now */
  readonly locked: string | null;
}

function Toggle({ title, isOn, call, steps, question, locked }: ToggleProps) {
  const { busy, problem, run } = useDo();
  const leads = !isOn && steps !== null;
  const act = async () => {
    if (leads) {
      go(steps);
      return;
    }
    if (isOn && !confirm(question)) return;
    if ((await run(call)) !== undefined) say(`${title} is ${isOn ? 'off' : 'on'}.`);
  };
  return (
    <>
      <button
        type="button"
        class="switch"
        role="switch"
        aria-checked={isOn}
        aria-label={title}
        disabled={busy || locked !== null}
        title={locked ?? (isOn ? 'Switch off' : leads ? 'Switch on: asks for the peer' : 'Switch on')}
        onClick={() => void act()}
      />
      <Refused problem={problem} />
      {!leads && <CallLine call={call} />}
    </>
  );
}
