/** State of the grid as one line, and its values as sliders. */
import { get, post } from '../../api/call';
import type { BodyOf, Call, ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { deviceLabel } from '../../kit/choices';
import { InPlaceButton, InPlaceSlider } from '../../kit/in-place';
import { Chip, Panel } from '../../kit/panel';
import { Segments } from '../../kit/segments';
import { duration, fixed, remaining, show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import { LastVerdict, useLastVerdict } from '../events/captures/last-verdict';
import { Deviations } from './deviations';
import { EventPanel, nominalHzOf, stopCalls, useGridEvents } from './events';
import { callsFor, queriesOf, ScopePicker, useScope, Writer } from './scope';
import type { Scope } from './scope';
import { OverTime, useTiming } from './timing';

type Grid = ReplyOf<'controls/grid'>;
type Body = BodyOf<'controls/grid'>;

const commonCall = get('controls/grid');
const backBody: Body = { source: 'csv' };

/** The grid of a scope, and the devices that deviate from the common one. */
function useGrid(scope: Scope) {
  const [query = {}] = queriesOf(scope);
  const { data: grid, problem } = useLive(get('controls/grid', { query }));
  const deviating = useLive(commonCall).data?.deviating_devices ?? [];
  return { grid, problem, deviating };
}

/**
 * Calls that set the present values again: those of the common grid, or of a device that deviates; other devices go
 * back to the common grid. Of several devices only one is read, so that a deviating group cannot be taken back.
 */
function undoOf(scope: Scope, grid: Grid | undefined, deviating: readonly number[], present: Body): readonly Call[] {
  const { devices } = scope;
  const deviates = devices?.some((index) => deviating.includes(index)) ?? false;
  if (grid === undefined || ((devices?.length ?? 1) > 1 && deviates)) return [];
  const follows = devices === undefined ? grid.source === 'csv' : !deviates;
  return callsFor(scope, (query) => post('controls/grid', { query, body: follows ? backBody : present }));
}

interface PartProps {
  readonly scope: Scope;
  readonly grid: Grid | undefined;
  readonly deviating: readonly number[];
}

/** The last disturbance of one device: that of the scope, otherwise the chosen one. */
function Disturbance({ scope }: { readonly scope: Scope }) {
  const chosen = useDevice();
  const [only] = scope.devices ?? [];
  const named = useOverview()?.devices.find(({ device_index }) => device_index === only);
  const target = scope.devices === undefined ? chosen : named;
  const last = useLastVerdict(target?.device_index);
  if (target === undefined || last === null) return null;
  return (
    <p>
      <strong>{deviceLabel(target)}</strong>, <LastVerdict last={last} />
    </p>
  );
}

/** Name and time of the event under way. */
function RunningEvent({ scope, event }: { readonly scope: Scope; readonly event: NonNullable<Grid['event']> }) {
  const { name, elapsed_s: elapsedS, remaining_s: leftS } = event;
  return (
    <div class="row running-event">
      <Chip tone="warn">{words(name)}</Chip>
      <progress aria-label={`Progress of ${words(name)}`} max={elapsedS + leftS} value={elapsedS} />
      <span data-test="event-left">{remaining(leftS)} left</span>
      <InPlaceButton text={`${words(name)} stopped`} calls={stopCalls(scope)} undo={[]}>
        Stop event
      </InPlaceButton>
    </div>
  );
}

/** Without the rounding errors of the division. */
const perUnit = (pct: number) => Number((pct / 100).toFixed(6));

/** Mean voltage in percent of nominal; null: not read. */
function voltagePct(grid: Grid | undefined): number | null {
  if (grid === undefined) return null;
  return ((grid.voltage_a_pu + grid.voltage_b_pu + grid.voltage_c_pu) / 3) * 100;
}

function isUneven({ voltage_a_pu: a, voltage_b_pu: b, voltage_c_pu: c }: Grid): boolean {
  return a !== b || b !== c;
}

/** `100.0 / 50.0 / 100.0 %` while the phases differ */
function voltageText(grid: Grid): string {
  const phases = [grid.voltage_a_pu, grid.voltage_b_pu, grid.voltage_c_pu].map((pu) => fixed(pu * 100, 1));
  return `${isUneven(grid) ? phases.join(' / ') : phases[0]}\u00a0%`;
}

function GridState({ grid }: { readonly grid: Grid }) {
  const { outage, island, voltage_ln_v: lnV, voltage_ll_v: llV, phase_angle_deg: angle } = grid;
  const [ramp, left] = [grid.ramp_remaining_s, grid.duration_remaining_s];
  return (
    <p class="state-line" data-test="grid-state">
      {outage && <Chip tone="bad">outage</Chip>}
      {island && <Chip tone="warn">island</Chip>}
      {!outage && !island && <Chip tone="good">connected</Chip>}
      <strong>{voltageText(grid)}</strong>
      {lnV !== null && (
        <span class="muted">
          {show(lnV, 'voltage')}
          {llV !== null && `, ${show(llV, 'voltage')} between phases`}
        </span>
      )}
      <strong>{show(grid.frequency_hz, 'frequency')}</strong>
      {angle !== 0 && <span>{show(angle, 'angle')}</span>}
      <span class="muted">{grid.source === 'csv' ? 'from the profile' : 'constant'}</span>
      {ramp > 0 && <Chip tone="warn">ramp, {duration(ramp)} left</Chip>}
      {left !== null && <Chip tone="warn">{duration(left)} left</Chip>}
      <span class="muted">
        Set by: <Writer by={grid.changed_by} />
      </span>
    </p>
  );
}

/** The program outside that gives the grid of devices, while there is one. */
function Outside() {
  const { owner, devices } = useLive(get('exchange')).data ?? { owner: null, devices: [] };
  if (owner === null) return null;
  const count = devices.length === 1 ? '1 device' : `${devices.length} devices`;
  return (
    <p data-test="exchange">
      <strong>{owner}</strong> gives the grid of {count} until it ends its exchange; it cannot be set here.
    </p>
  );
}

const noProfile = 'No grid profile is loaded: start with --grid_profile FILE.';

/** Ends what was set: a device follows the common grid again, the common grid its profile. */
function Back({ scope, grid, deviating }: PartProps) {
  const calls = callsFor(scope, (query) => post('controls/grid', { query, body: backBody }));
  const { devices, title } = scope;
  if (devices === undefined)
    return (
      <InPlaceButton
        text="The grid follows the profile"
        calls={calls}
        undo={[]}
        pressed={grid?.source === 'csv'}
        unable={grid?.profile_loaded === false ? noProfile : null}
      >
        Follow the profile
      </InPlaceButton>
    );
  const deviates = devices.some((index) => deviating.includes(index));
  return (
    <InPlaceButton
      text={`${title}: the common grid`}
      calls={calls}
      undo={[]}
      unable={deviates ? null : 'It follows the common grid already.'}
    >
      Back to the common grid
    </InPlaceButton>
  );
}

/** A button that switches a state of the grid on and off. */
function Toggle({ scope, grid, deviating, name }: PartProps & { readonly name: 'outage' | 'island' }) {
  const isOn = grid?.[name] ?? false;
  const calls = callsFor(scope, (query) => post('controls/grid', { query, body: { [name]: !isOn } }));
  const undo = undoOf(scope, grid, deviating, { [name]: isOn });
  const title = name === 'outage' ? 'Outage' : 'Island';
  return (
    <InPlaceButton text={`${title}: ${isOn ? 'off' : 'on'}`} calls={calls} undo={undo} pressed={isOn}>
      {isOn ? `End the ${name}` : title}
    </InPlaceButton>
  );
}

/** The state of one device in the list of deviations. */
function StateOf({ device }: { readonly device: number }) {
  const { data } = useLive(get('controls/grid', { query: { device } }));
  return data ? <GridState grid={data} /> : null;
}

/** A quantity as title of its preset, with its unit as everywhere outside of tables. */
const titled = (value: number, unit: string) => [`${value}\u00a0${unit}`, value] as const;

const voltagePresets = [50, 88, 95, 100, 106, 110, 120].map((pct) => titled(pct, '%'));
/** Usual test frequencies by nominal frequency. */
const frequencyPresets: Readonly<Record<number, readonly number[]>> = {
  50: [47.5, 49, 49.8, 50, 50.2, 51, 51.5],
  60: [57, 58.5, 59.5, 60, 60.5, 61.2, 62],
};

const phases = ['a', 'b', 'c'] as const;

/** Sliders of voltage and frequency. */
function Values({ scope, grid, deviating }: PartProps) {
  const [timing, setTiming] = useTiming();
  const nominalHz = nominalHzOf(useGridEvents());
  const isApart = param('phases') === 'each' || (grid !== undefined && isUneven(grid));
  const callsOf = (body: Body) =>
    callsFor(scope, (query) => post('controls/grid', { query, body: { ...body, ...timing } }));
  const undo = (present: Body) => undoOf(scope, grid, deviating, present);
  const present = (name: (typeof phases)[number]) => grid?.[`voltage_${name}_pu`];
  return (
    <Panel
      title="Voltage and frequency"
      tools={
        <Segments
          label="Phases"
          options={[
            ['all', 'All phases'],
            ['each', 'Each phase, angle'],
          ]}
          value={isApart ? 'each' : 'all'}
          onChoice={(choice) => setParam('phases', choice === 'each' ? choice : null)}
        />
      }
    >
      <InPlaceSlider
        name="Voltage"
        value={voltagePct(grid)}
        min={0}
        max={130}
        typedMax={200}
        step={0.1}
        decimals={2}
        unit="%"
        note={grid?.voltage_ln_v == null ? 'of nominal' : show(grid.voltage_ln_v, 'voltage')}
        presets={voltagePresets}
        callsOf={(pct) => callsOf({ voltage_pu: perUnit(pct) })}
        undo={undo({
          voltage_a_pu: present('a') ?? 1,
          voltage_b_pu: present('b') ?? 1,
          voltage_c_pu: present('c') ?? 1,
        })}
      />
      {isApart &&
        phases.map((name) => (
          <InPlaceSlider
            key={name}
            name={`Phase ${name.toUpperCase()}`}
            value={grid && (present(name) ?? 0) * 100}
            min={0}
            max={130}
            typedMax={200}
            step={0.1}
            decimals={2}
            unit="%"
            callsOf={(pct) => callsOf({ [`voltage_${name}_pu`]: perUnit(pct) })}
            undo={undo({ [`voltage_${name}_pu`]: present(name) ?? 1 })}
          />
        ))}
      <InPlaceSlider
        name="Frequency"
        value={grid?.frequency_hz}
        min={45}
        max={66}
        typedMax={70}
        step={0.01}
        decimals={3}
        unit="Hz"
        note={`nominal ${nominalHz} Hz`}
        presets={(frequencyPresets[nominalHz] ?? [nominalHz]).map((hz) => titled(hz, 'Hz'))}
        callsOf={(hz) => callsOf({ frequency_hz: hz })}
        undo={undo({ frequency_hz: grid?.frequency_hz ?? nominalHz })}
      />
      {isApart && (
        <InPlaceSlider
          name="Phase angle"
          value={grid?.phase_angle_deg}
          min={-180}
          max={180}
          step={1}
          decimals={1}
          unit="°"
          note="acts on a vector shift relay only"
          callsOf={(deg) => callsOf({ phase_angle_deg: deg })}
          undo={undo({ phase_angle_deg: grid?.phase_angle_deg ?? 0 })}
        />
      )}
      <OverTime timing={timing} onTiming={setTiming} />
    </Panel>
  );
}

/** Voltage, frequency and events of the grid. */
export function GridTab() {
  const scope = useScope();
  const { grid, problem, deviating } = useGrid(scope);
  const part = { scope, grid, deviating };
  return (
    <>
      <Panel
        title="Grid"
        tools={
          <>
            <ScopePicker />
            <Toggle {...part} name="outage" />
            <Toggle {...part} name="island" />
            <Back {...part} />
          </>
        }
      >
        {grid && <GridState grid={grid} />}
        <Outside />
        {grid?.event && <RunningEvent scope={scope} event={grid.event} />}
        <Disturbance scope={scope} />
        <Refused problem={problem} />
      </Panel>
      <div class="inputs of-grid-tab" key={scope.name}>
        <Values {...part} />
        <EventPanel />
      </div>
      {scope.devices === undefined && (
        <Deviations
          title="Not on the common grid"
          common="common grid"
          devices={deviating}
          backCall={(device) => post('controls/grid', { query: { device }, body: backBody })}
          stateOf={(device) => <StateOf device={device} />}
        />
      )}
    </>
  );
}
