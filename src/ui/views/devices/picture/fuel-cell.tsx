import { get, post } from '../../../api/call';
import { Action } from '../../../kit/action';
import { duration, fixed, show, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { snapshotOf } from '../../../store/stream';
import { setBy } from '../page';
import type { PageProps } from '../page';
import { AcSide, useRating } from './ac-side';
import { ControlGroup, Setter, UnreadControl } from './control';
import { hintOf, setpointPresets, tankPresets } from './presets';
import { PowerLimitControl } from './shared-controls';
import { CurveInset } from './pv';
import { Box, Level, Wire } from './wires';

const modes = { FC: 'fuel cell', EL: 'electrolyser', idle: 'idle' } as const;

export function FuelCellPicture({ device }: PageProps) {
  const query = { device: device.device_index };
  const cell = useLive(get('fuelcell', { query })).data;
  const rating = useRating(device);
  const kw = cell?.stack_power_kw ?? null;
  const flow = cell?.h2_flow_kg_h ?? 0;
  return (
    <>
      <Box
        title={cell?.fuel === 'continuous' ? 'Supply' : 'Tank'}
        end={cell?.tank_level_pct == null ? undefined : show(cell.tank_level_pct, 'percent')}
      >
        {cell?.tank_level_pct == null ? (
          <span>{cell === undefined ? '' : 'continuous'}</span>
        ) : (
          <Level label="Tank level" pct={cell.tank_level_pct} />
        )}
        {cell?.tank_mass_kg != null && (
          <small>
            {fixed(cell.tank_mass_kg, 3)} kg, {fixed(cell.tank_pressure_bar, 1)} bar
          </small>
        )}
        <small>{flow === 0 ? 'no flow' : `${flow < 0 ? 'makes' : 'uses'} ${fixed(Math.abs(flow), 3)} kg/h`}</small>
      </Box>
      <Wire name="tank to stack" kw={kw} ratingKw={rating} />
      <Box title="Stack" end={<span data-test="fc-mode">{cell && modes[cell.mode]}</span>}>
        <span data-test="fc-power">{show(kw === null ? kw : Math.abs(kw), 'activePower')}</span>
        <small>
          {show(cell?.stack_voltage_v, 'voltage')}, {show(cell?.stack_temperature_c, 'temperature')}
        </small>
        <CurveInset device={device.device_index} port={0} />
      </Box>
      <Wire name="stack to inverter" kw={kw} ratingKw={rating} />
      <AcSide device={device} />
    </>
  );
}

function SetpointControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data: cell, problem } = useLive(get('fuelcell', { query }));
  if (cell === undefined) return <UnreadControl problem={problem} />;
  const { setpoint_kw: present, rated_power_kw: rated } = cell;
  const callOf = (value: number | null) => post('fuelcell/setpoint', { query, body: { power_kw: value } });
  const isReversible = cell.operating_mode === 'bidirectional';
  return (
    <Setter
      name="Stack power"
      value={present ?? 0}
      min={isReversible ? -cell.rated_el_power_kw : 0}
      max={rated}
      unit="kW"
      decimals={2}
      note={
        <span data-test="fc-setpoint">
          {present === null ? 'no set-point' : `${show(present, 'activePower')}, ${setBy(cell.setpoint_by)}`}
        </span>
      }
      callOf={callOf}
      undo={callOf(present)}
      presets={setpointPresets.map(([title, share]) => {
        const value = share === null ? null : share * rated;
        return {
          title,
          hint: value === null ? 'power_kw: null' : show(value, 'activePower'),
          call: callOf(value),
          pressed: value === present,
        };
      })}
    >
      {isReversible && <small class="muted">Below 0 it is an electrolyser.</small>}
    </Setter>
  );
}

function TankControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const cell = useLive(get('fuelcell', { query })).data;
  if (cell === undefined || cell.tank_level_pct === null) return null;
  const level = cell.tank_level_pct;
  const callOf = (value: number) => post('fuelcell/tank', { query, body: { level_pct: value } });
  return (
    <Setter
      name="Tank level"
      value={level}
      min={0}
      max={100}
      unit="%"
      decimals={1}
      note={words(cell.tank_state)}
      callOf={callOf}
      undo={callOf(level)}
      presets={tankPresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: post('fuelcell/tank', { query, body }),
        pressed: body.level_pct === level,
      }))}
    />
  );
}

function StartStop({ device }: PageProps) {
  const query = { device: device.device_index };
  const cell = useLive(get('fuelcell', { query })).data;
  const status = snapshotOf(device.device_index)?.status ?? device.status;
  const dwell = cell?.dwell_remaining_s ?? 0;
  return (
    <ControlGroup
      name="Operation"
      note={dwell > 0 ? `changes direction in ${duration(Math.round(dwell))}` : device.kind_state}
    >
      <div class="row">
        <Action call={post('commands', { query, body: { command: 'start' } })} disabled={status.service_state === 'on'}>
          Start
        </Action>
        <Action call={post('commands', { query, body: { command: 'stop' } })} disabled={status.service_state === 'off'}>
          Stop
        </Action>
      </div>
    </ControlGroup>
  );
}

export function FuelCellControls({ device }: PageProps) {
  return (
    <>
      <StartStop device={device} />
      <SetpointControl device={device} />
      <TankControl device={device} />
      <PowerLimitControl device={device} />
    </>
  );
}
