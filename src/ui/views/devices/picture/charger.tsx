/** Picture and controls of a charging station: one connector is chosen, and the address keeps which. */
import { useState } from 'preact/hooks';
import { Action } from '../../../kit/action';
import { Chip, Facts, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { Segments } from '../../../kit/segments';
import { dash, duration, fixed, show, timeOfDay, words } from '../../../look/format';
import { setParam } from '../../../store/route';
import { useClock } from '../../../store/site';
import { Display, Operations, chosenConnector, connectorCall, openSession, useStation, whyNot } from '../connector';
import type { Connector } from '../connector';
import { setBy } from '../page';
import type { PageProps } from '../page';
import { useWhy, winnerOf } from '../waterfall/chain';
import { GridBox, Held, useMetrics } from './ac-side';
import { ControlGroup, Setter } from './control';
import { chargePresets, hintOf, localLimitPresets, targetPresets, vehicles } from './presets';
import { Box, Level, Power, Wire } from './wires';

const vehicleName = ({ ev }: Connector) => (ev === null ? 'No vehicle' : (ev.id ?? 'Vehicle'));

function currentWords({ current_a: amperes, standard }: Connector): string {
  const [first = 0] = amperes;
  const isEven = amperes.every((each) => Math.abs(each - first) < 0.05);
  const text = isEven ? `${fixed(first, 1)} A` : `${amperes.map((each) => fixed(each, 1)).join(' / ')} A`;
  return `${text}${isEven && amperes.length > 1 ? ` × ${amperes.length}` : ''}, ${standard}`;
}

interface BranchProps {
  readonly connector: Connector;
  readonly isAlone: boolean;
}

function Branch({ connector, isAlone }: BranchProps) {
  const { connector_id: cid, ev, cable, power_kw: kw } = connector;
  const isPlugged = cable.ev_plugged && cable.evse_plugged;
  const note = cable.locked ? 'locked' : isPlugged ? 'plugged in' : ev === null ? null : 'hangs loose';
  return (
    <div class="branch">
      <Wire
        name={`station to vehicle ${cid}`}
        kw={kw}
        ratingKw={connector.max_power_kw}
        slack
        {...(note !== null && { note })}
      />
      <Box
        title={`${isAlone ? '' : `${cid}: `}${vehicleName(connector)}`}
        end={ev === null ? undefined : show(ev.soc_pct, 'soc')}
        off={ev === null}
      >
        {ev && (
          <>
            <Level label="State of charge" pct={ev.soc_pct} marks={[['target', ev.target_soc_pct]]} />
            <small>
              {show(ev.battery_capacity_kwh, 'energy')}, target {fixed(ev.target_soc_pct, 0)} %
            </small>
          </>
        )}
        <small>
          <span data-test={`actual-${cid}`}>{show(kw, 'activePower')}</span>
          {!isAlone && `, ${connector.standard}`}
        </small>
        {isAlone && <small>{currentWords(connector)}</small>}
      </Box>
    </div>
  );
}

export function ChargerPicture({ device }: PageProps) {
  const station = useStation(device);
  const metrics = useMetrics(device);
  const chosen = chosenConnector(station);
  const winner = winnerOf(useWhy(device.device_index, chosen?.connector_id));
  const rating = station?.max_power_kw ?? 0;
  const kw = metrics?.power_kw ?? device.power_kw;
  return (
    <>
      <GridBox device={device} kw={kw} />
      <Wire name="grid to station" kw={-kw} ratingKw={rating} />
      <Box title="Station" tall>
        <Power kw={kw} test="device-power" />
        <small>up to {show(rating, 'activePower')}</small>
        <Held by={winner} kind="evse" />
      </Box>
      <div class="branches to">
        {station?.connectors.map((connector) => (
          <Branch key={connector.connector_id} connector={connector} isAlone={station.connectors.length === 1} />
        ))}
      </div>
    </>
  );
}

interface Step {
  readonly title: string;
  readonly operation: string;
  readonly body?: object;
}

type Vehicle = (typeof vehicles)[number][1];

/** Operations that the state allows, the one that comes next first. */
export function nextSteps(connector: Connector, central: boolean, vehicle: Vehicle): readonly Step[] {
  const isAllowed = (operation: Parameters<typeof whyNot>[0]) => whyNot(operation, connector, central) === null;
  const session = openSession(connector);
  const isPlugged = connector.cable.ev_plugged && connector.cable.evse_plugged;
  const all: readonly (Step & { readonly applies: boolean })[] = [
    { title: 'Clear fault', operation: 'clear-fault', applies: isAllowed('clear-fault') },
    { title: 'Plug in', operation: 'plug', body: { ev: vehicle }, applies: isAllowed('plug') },
    {
      title: 'Authorise',
      operation: 'authorize',
      applies: isPlugged && session === null && !connector.authorized && isAllowed('authorize'),
    },
    { title: 'Start', operation: 'start', body: { authorize: true }, applies: isPlugged && isAllowed('start') },
    { title: 'Unplug', operation: 'unplug', applies: isAllowed('unplug') },
    { title: 'Unlock', operation: 'unlock', applies: session === null && isAllowed('unlock') },
    { title: 'Resume', operation: 'resume', body: { by: 'evse' }, applies: isAllowed('resume') },
    {
      title: 'Suspend',
      operation: 'suspend',
      body: { by: 'evse' },
      applies: connector.status === 'charging' && isAllowed('suspend'),
    },
    { title: 'Stop', operation: 'stop', applies: session !== null && isAllowed('stop') },
  ];
  return all.filter(({ applies }) => applies);
}

const tones: Readonly<Record<string, Tone>> = {
  charging: 'good',
  faulted: 'bad',
  unavailable: 'off',
  available: 'muted',
};

interface ConnectorProps {
  readonly id: string;
  readonly connector: Connector;
  /** true if a central system decides about tokens */
  readonly central: boolean;
}

interface RowProps extends ConnectorProps {
  readonly isAlone: boolean;
  readonly vehicle: Vehicle;
  /** true: all operations are shown */
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}

/** One connector: its state, its next operation, and all others behind More. */
function ConnectorRow({ id, connector, central, isAlone, vehicle, isOpen, onOpen }: RowProps) {
  const { connector_id: cid, status, session } = connector;
  const steps = nextSteps(connector, central, vehicle);
  const since = session !== null && session.ended_at === null ? `since ${timeOfDay(session.started_at)}` : '';
  const chip = (
    <Chip tone={tones[status] ?? 'warn'}>
      <span data-test={`status-${cid}`}>{words(status)}</span>
    </Chip>
  );
  const buttons = (
    <div class="row">
      {steps.slice(0, isAlone ? undefined : 2).map(({ title, operation, body }, at) => (
        <Action key={title} call={connectorCall(id, cid, operation, body)} primary={at === 0}>
          {title}
        </Action>
      ))}
      <button type="button" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
        More…
      </button>
    </div>
  );
  const rest = (
    <>
      <Display id={id} connector={connector} central={central} />
      {isOpen && <Operations id={id} connector={connector} central={central} />}
    </>
  );
  if (!isAlone)
    return (
      <div class="connector-row" role="group" aria-label={`Connector ${cid}`}>
        <span class="name">Connector {cid}</span>
        {chip}
        {buttons}
        {rest}
      </div>
    );
  return (
    <ControlGroup
      name="Vehicle"
      note={
        <span class="row">
          {since}
          {chip}
        </span>
      }
    >
      {buttons}
      {rest}
    </ControlGroup>
  );
}

/** Equal but for the voltage, which has moved since a limit in amperes was set. */
const isNear = (kw: number | null, local: number | null) =>
  kw !== null && local !== null && Math.abs(kw - local) < 0.05 * kw;

function LocalLimit({ id, connector, device }: ConnectorProps & { readonly device: number }) {
  const { connector_id: cid, max_power_kw: max, local_limit_kw: local, voltage_v: volts, phases } = connector;
  const winner = winnerOf(useWhy(device, cid));
  const call = (kw: number | null) => connectorCall(id, cid, 'limit', { power_kw: kw });
  const kwOf = (preset: (typeof localLimitPresets)[number][1]): number | null => {
    if (preset === null) return null;
    if ('kw' in preset) return preset.kw;
    const atTheSocket = (preset.amperes * volts * phases) / 1000;
    return Number(Math.max(connector.min_power_kw, atTheSocket).toFixed(3));
  };
  const isDc = connector.type === 'dc';
  return (
    <Setter
      name="Local limit"
      value={local ?? max}
      min={0}
      max={max}
      unit="kW"
      decimals={2}
      note={
        <span data-test={`limit-${cid}`}>
          {local === null ? 'not set' : setBy(connector.local_limit_by)}
          {winner?.kw != null && winner.key !== 'local' && `; ${show(winner.kw, 'activePower')} in force`}
        </span>
      }
      limit={winner?.kw ?? null}
      callOf={call}
      undo={call(local)}
      presets={localLimitPresets
        .map(([title, preset]) => ({ title, kw: kwOf(preset), isAmpere: preset !== null && 'amperes' in preset }))
        .filter(({ kw, isAmpere }) => (kw === null || kw <= max) && !(isDc && isAmpere))
        .map(({ title, kw, isAmpere }) => ({
          title,
          hint: kw === null ? 'power_kw: null' : show(kw, 'activePower'),
          call: call(kw),
          pressed: isAmpere ? isNear(kw, local) : kw === local,
        }))}
    />
  );
}

const noVehicle = 'No vehicle is plugged in.';

function VehicleCharge({ id, connector, isAlone }: ConnectorProps & Pick<RowProps, 'isAlone'>) {
  const { connector_id: cid, ev } = connector;
  const unable = ev === null ? noVehicle : null;
  const call = (body: object) => connectorCall(id, cid, 'ev', body);
  return (
    <>
      <Setter
        name="State of charge"
        value={ev?.soc_pct}
        min={0}
        max={100}
        unit="%"
        decimals={1}
        note={ev?.departure_time ? `leaves at ${timeOfDay(ev.departure_time)}` : undefined}
        callOf={(value) => call({ soc_pct: value })}
        undo={ev && call({ soc_pct: ev.soc_pct })}
        unable={unable}
        presets={
          ev === null
            ? []
            : chargePresets.map(([title, body]) => ({
                title,
                hint: hintOf(body),
                call: call(body),
                pressed: body.soc_pct === ev.soc_pct,
              }))
        }
      />
      {ev && (
        <Setter
          name="Charge to"
          value={ev.target_soc_pct}
          min={0}
          max={100}
          unit="%"
          decimals={0}
          callOf={(value) => call({ target_soc_pct: value })}
          undo={call({ target_soc_pct: ev.target_soc_pct })}
          presets={(isAlone ? targetPresets : []).map(([title, body]) => ({
            title,
            hint: hintOf(body),
            call: call(body),
            pressed: body.target_soc_pct === ev.target_soc_pct,
          }))}
        />
      )}
    </>
  );
}

interface NextVehicleProps {
  readonly chosen: string;
  readonly onChoice: (title: string) => void;
  /** opens the form for any vehicle; null: no connector is free for one */
  readonly onOther: (() => void) | null;
}

function NextVehicle({ chosen, onChoice, onOther }: NextVehicleProps) {
  return (
    <ControlGroup name="Next vehicle, kWh" note={onOther === null ? 'used after Unplug' : 'used at the next plug-in'}>
      <div class="row">
        {vehicles.map(([title, body]) => (
          <button
            key={title}
            type="button"
            class="small"
            title={hintOf(body)}
            aria-pressed={title === chosen}
            onClick={() => onChoice(title)}
          >
            {title}
          </button>
        ))}
        <button
          type="button"
          class="small"
          disabled={onOther === null}
          title={onOther === null ? 'A vehicle is plugged in already' : undefined}
          onClick={() => onOther?.()}
        >
          Own…
        </button>
      </div>
    </ControlGroup>
  );
}

interface ConnectorChoiceProps {
  readonly connectors: readonly Connector[];
  readonly chosen: Connector | undefined;
}

/** Chooses the connector of the page; the address keeps it. */
export function ConnectorChoice({ connectors, chosen }: ConnectorChoiceProps) {
  return (
    <Segments
      label="Connector"
      options={connectors.map(({ connector_id: cid }) => [cid, String(cid)] as const)}
      value={chosen?.connector_id ?? null}
      onChoice={(cid) => setParam('connector', cid)}
    />
  );
}

export function ChargerControls({ device }: PageProps) {
  const station = useStation(device);
  const [vehicleTitle, setVehicle] = useState<string>(vehicles[0]?.[0] ?? '');
  const [openId, setOpen] = useState<number | null>(null);
  const connector = chosenConnector(station);
  if (station === undefined || connector === undefined) return <Loading heights={[160, 160]} />;
  const { id, ocpp, connectors } = station;
  const central = ocpp !== null;
  const empty = connectors.find(({ ev }) => ev === null);
  const vehicle = vehicles.find(([title]) => title === vehicleTitle)?.[1] ?? {};
  const props = { id, connector, central };
  return (
    <>
      {connectors.map((each) => (
        <ConnectorRow
          key={each.connector_id}
          id={id}
          connector={each}
          central={central}
          isAlone={connectors.length === 1}
          vehicle={vehicle}
          isOpen={openId === each.connector_id}
          onOpen={(isOpen) => setOpen(isOpen ? each.connector_id : null)}
        />
      ))}
      {connectors.length > 1 && (
        <ControlGroup
          name="Settings of connector"
          note={<ConnectorChoice connectors={connectors} chosen={connector} />}
        />
      )}
      <LocalLimit key={`limit ${connector.connector_id}`} {...props} device={device.device_index} />
      <VehicleCharge key={`charge ${connector.connector_id}`} {...props} isAlone={connectors.length === 1} />
      <NextVehicle
        chosen={vehicleTitle}
        onChoice={setVehicle}
        onOther={empty ? () => setOpen(empty.connector_id) : null}
      />
    </>
  );
}

/** The open or last session at the chosen connector. */
export function SessionPanel({ device }: PageProps) {
  const station = useStation(device);
  const connector = chosenConnector(station);
  const nowIso = useClock()?.sim_time;
  const session = connector?.session ?? null;
  // a station of several connectors needs the room
  if (session === null || (station?.connectors.length ?? 0) > 1) return null;
  const endIso = session.ended_at ?? nowIso;
  const spanS = endIso === undefined ? undefined : (Date.parse(endIso) - Date.parse(session.started_at)) / 1000;
  return (
    <Panel
      title={`Session ${session.transaction_id}`}
      tools={<span class="muted">token {session.id_token ?? dash}</span>}
    >
      <Facts
        rows={[
          ['State', words(session.state)],
          ['Energy', `${show(session.energy_wh / 1000, 'energy')} in ${duration(spanS)}`],
        ]}
      />
    </Panel>
  );
}
