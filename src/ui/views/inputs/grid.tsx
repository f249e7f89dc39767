import { anyCall, get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field, Values } from '../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../kit/panel';
import { RequestForm } from '../../kit/schema-form';
import type { Schema } from '../../kit/schema-form';
import { show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import { deviceLabel } from '../../kit/choices';
import { useOutcome } from '../devices/grid-support/why';
import { Pair, ScopePicker, scopeQuery, useScope, Writer } from './scope';

type Grid = ReplyOf<'controls/grid'>;

const yesNo = [['true', 'yes'] as const, ['false', 'no'] as const];
const fields: readonly Field[] = [
  { kind: 'number', name: 'voltage_pu', label: 'Voltage, all phases', unit: 'pu', min: 0, max: 2 },
  { kind: 'number', name: 'voltage_a_pu', label: 'Phase A', unit: 'pu', min: 0, max: 2 },
  { kind: 'number', name: 'voltage_b_pu', label: 'Phase B', unit: 'pu', min: 0, max: 2 },
  { kind: 'number', name: 'voltage_c_pu', label: 'Phase C', unit: 'pu', min: 0, max: 2 },
  { kind: 'number', name: 'voltage_ln_v', label: 'Voltage to neutral', unit: 'V', min: 0 },
  { kind: 'number', name: 'frequency_hz', label: 'Frequency', unit: 'Hz', min: 40, max: 70 },
  { kind: 'number', name: 'phase_angle_deg', label: 'Phase angle', unit: '°', min: -180, max: 180 },
  { kind: 'choice', name: 'outage', label: 'Outage', options: yesNo },
  { kind: 'choice', name: 'island', label: 'Island', options: yesNo },
  {
    kind: 'choice',
    name: 'source',
    label: 'Source',
    options: [
      ['const', 'constant'],
      ['csv', 'grid profile'],
    ],
  },
  { kind: 'number', name: 'ramp_s', label: 'Ramp', unit: 's', min: 0, max: 3600, placeholder: 'step' },
  { kind: 'number', name: 'duration_s', label: 'Duration', unit: 's', min: 0, placeholder: 'no end' },
];

/** Replaces yes and no by booleans. */
function withBooleans(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === 'true' ? true : value === 'false' ? false : value]),
  );
}

function GridFacts({ grid }: { readonly grid: Grid }) {
  const phases = [grid.voltage_a_pu, grid.voltage_b_pu, grid.voltage_c_pu];
  return (
    <>
      <div class="row">
        {grid.outage && <Chip tone="bad">outage</Chip>}
        {grid.island && <Chip tone="warn">island</Chip>}
        {!grid.outage && !grid.island && <Chip tone="good">mains connected</Chip>}
      </div>
      <Facts
        rows={[
          ['Voltage A, B, C', phases.map((value) => show(value, 'perUnit')).join(', ')],
          ['Line to neutral', show(grid.voltage_ln_v, 'voltage')],
          ['Line to line', show(grid.voltage_ll_v, 'voltage')],
          ['Frequency', show(grid.frequency_hz, 'frequency')],
          ['Phase angle', show(grid.phase_angle_deg, 'angle')],
          ['Source', grid.source === 'csv' ? 'grid profile' : 'constant'],
          ['Ramp left', show(grid.ramp_remaining_s, 'seconds')],
          ['Time left', grid.duration_remaining_s === null ? 'no end' : show(grid.duration_remaining_s, 'seconds')],
          ['Set by', <Writer by={grid.changed_by} />],
        ]}
      />
    </>
  );
}

/** Returns one device to the common grid, or the common grid to its profile, if any. */
function Back({ grid, device }: { readonly grid: Grid | undefined; readonly device: number | undefined }) {
  const call = post('controls/grid', { ...scopeQuery(device), body: { source: 'csv' } });
  if (device !== undefined) return <Action call={call}>Back to the common grid</Action>;
  const hasNoProfile = grid?.profile_loaded === false;
  return (
    <>
      <Action call={call} disabled={hasNoProfile}>
        Back to the grid profile
      </Action>
      {hasNoProfile && <small class="muted">No grid profile is loaded: start with --grid_profile FILE.</small>}
    </>
  );
}

/** Voltage, frequency and angle of the grid, for all devices or one. */
export function GridPanel() {
  const device = useScope();
  const scope = scopeQuery(device);
  const { data: grid, problem } = useLive(get('controls/grid', scope));
  return (
    <Panel title="Grid" tools={<ScopePicker />}>
      <Pair
        present={
          <>
            {grid && <GridFacts grid={grid} />}
            <Refused problem={problem} />
            <div class="row">
              <Action call={post('controls/grid', { ...scope, body: { outage: !(grid?.outage ?? false) } })}>
                {grid?.outage ? 'End the outage' : 'Outage'}
              </Action>
              <Back grid={grid} device={device} />
            </div>
          </>
        }
      >
        <Form
          fields={fields}
          submit="Set the grid"
          call={(values) => post('controls/grid', { ...scope, body: withBooleans(values) })}
        />
      </Pair>
    </Panel>
  );
}

type GridEvent = ReplyOf<'grid-events'>['events'][number];

/** Labels of parameters whose names are not clear. */
const titles: Readonly<Record<string, string>> = {
  residual_pu: 'Residual voltage',
  level_pu: 'Voltage',
  level_1_pu: 'Voltage of level 1',
  level_2_pu: 'Voltage of level 2',
  level_3_pu: 'Voltage of level 3',
  to_pu: 'New voltage',
  to_hz: 'New frequency',
  deg: 'Angle',
  edge_s: 'Length of each edge',
  frequency_hz: 'Frequency of the oscillation',
};

function schemaOf({ parameters }: GridEvent): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, unit, default: preset, minimum, maximum, allowed }) => [
        name,
        {
          type: typeof preset === 'number' ? 'number' : 'string',
          default: preset,
          ...(titles[name] !== undefined && { title: titles[name] }),
          ...(unit !== null && { unit: unit === 'deg' ? '°' : unit }),
          ...(minimum !== null && { minimum }),
          ...(maximum !== null && { maximum }),
          ...(allowed !== null && { enum: allowed }),
          ...(allowed !== null && { description: `Default ${String(preset)}.` }),
        },
      ]),
    ),
  };
}

/** Sags, swells, ramps and the sequences of IEEE 1547.1, by name. */
export function EventPanel() {
  const device = useScope();
  const scope = scopeQuery(device);
  const { data: grid } = useLive(get('controls/grid', scope));
  const events = useLive(get('grid-events'), 'once').data?.events;
  const chosen = events?.find(({ name }) => name === param('event')) ?? events?.[0];
  const running = grid?.event ?? null;
  return (
    <Panel title="Grid events">
      <Pair
        present={
          <>
            {running ? (
              <Facts
                rows={[
                  ['Event', <Chip tone="warn">{words(running.name)}</Chip>],
                  ['Since', show(running.elapsed_s, 'seconds')],
                  ['Time left', show(running.remaining_s, 'seconds')],
                  ['Set by', <Writer by={grid?.changed_by} />],
                ]}
              />
            ) : (
              <Empty>No event acts on {device === undefined ? 'all devices' : `device ${device}`}.</Empty>
            )}
            <Action call={post('controls/grid/event', { ...scope, body: { event: null } })} disabled={running === null}>
              Stop the event
            </Action>
            <EventOutcome device={device} />
          </>
        }
      >
        {events && chosen && (
          <>
            <label class="row">
              <span class="muted">Event</span>
              <select value={chosen.name} onChange={(event) => setParam('event', event.currentTarget.value)}>
                {events.map(({ name }) => (
                  <option key={name} value={name}>
                    {words(name)}
                  </option>
                ))}
              </select>
            </label>
            <p class="muted">{chosen.description}</p>
            <EventForm key={chosen.name} event={chosen} device={device} />
          </>
        )}
      </Pair>
    </Panel>
  );
}

/** Effect of an event on its device, or on the chosen device if the event acts on all. */
function EventOutcome({ device }: { readonly device: number | undefined }) {
  const chosen = useDevice();
  const named = useOverview()?.devices.find(({ device_index }) => device_index === device);
  const target = device === undefined ? chosen : named;
  const outcome = useOutcome(target?.device_index);
  if (target === undefined || outcome === null) return null;
  return <Facts rows={[[deviceLabel(target), <span data-test="outcome">{outcome}</span>]]} />;
}

function EventForm({ event, device }: { readonly event: GridEvent; readonly device: number | undefined }) {
  return (
    <RequestForm
      schema={schemaOf(event)}
      under="/parameters"
      submit="Start the event"
      call={(parameters) =>
        anyCall('POST', 'controls/grid/event', scopeQuery(device).query, { event: event.name, parameters })
      }
    />
  );
}
