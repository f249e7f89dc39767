import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import type { BodyOf, ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { duration, fixed, show, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { setBy } from '../page';
import type { PageProps } from '../page';
import { useWhy, winnerOf } from '../waterfall/chain';
import { AcSide, useRating } from './ac-side';
import { Choice, ControlGroup, Setter, UnreadControl } from './control';
import { forcedSpans } from './presets';
import { ChargeControl, PowerLimitControl } from './shared-controls';
import { CurveInset } from './pv';
import { Box, Level, Wire } from './wires';

type Bank = ReplyOf<'controls/battery'>;

/** State of charge with the limits of the battery. */
export function CellsBox({ device, bank }: PageProps & { readonly bank: Bank | undefined }) {
  return (
    <Box title="Cells" end={show(bank?.soc_pct, 'soc')} off={bank?.state === 'disconnected'}>
      {bank && (
        <Level
          label="State of charge"
          pct={bank.soc_pct}
          marks={[
            ['min', bank.soc_min_pct],
            ['reserve min', bank.soc_reserve_min_pct],
            ['reserve max', bank.soc_reserve_max_pct],
            ['max', bank.soc_max_pct],
          ]}
        />
      )}
      <small>
        {fixed(bank?.soc_min_pct, 0)} to {fixed(bank?.soc_max_pct, 0)} % usable
      </small>
      <small>
        {show(bank?.temperature_c, 'temperature')}, {bank?.chemistry.toUpperCase()}
      </small>
      {device.asset_type === 'battery' && <CurveInset device={device.device_index} port={0} />}
    </Box>
  );
}

/** The modes as present participles. */
export const motions: Readonly<Record<Bank['mode'], string>> = {
  charge: 'charging',
  discharge: 'discharging',
  idle: 'resting',
};

export function BatteryPicture({ device }: PageProps) {
  const query = { device: device.device_index };
  const bank = useLive(get('controls/battery', { query })).data;
  const rating = useRating(device);
  const kw = bank?.power_kw ?? null;
  return (
    <>
      <CellsBox device={device} bank={bank} />
      <Wire name="cells to DC bus" kw={kw} ratingKw={rating} />
      <Box title="DC bus">
        <span data-test="battery-power">{show(kw === null ? kw : Math.abs(kw), 'activePower')}</span>
        <small>{show(bank?.dc_voltage_v, 'voltage')}</small>
        <small>{bank && motions[bank.mode]}</small>
        {bank && bank.inhibit !== 'none' && <small class="warn">{words(bank.inhibit)}</small>}
      </Box>
      <Wire name="DC bus to inverter" kw={kw} ratingKw={rating} />
      <AcSide device={device} />
    </>
  );
}

type Mode = Bank['requested_mode'];

const modes: readonly (readonly [Mode, string])[] = [
  ['charge', 'Charge'],
  ['idle', 'Rest'],
  ['discharge', 'Discharge'],
  ['auto', 'Automatic'],
];

type Forced = BodyOf<'controls/battery'>;

/** The body that restores the mode in force. */
function restoring({ requested_mode: mode, requested_power_kw: kw, remaining_s: left }: Bank): Forced {
  if (mode === 'auto') return { mode };
  return {
    mode,
    ...(mode !== 'idle' && kw !== null && { power_kw: kw }),
    ...(left !== null && left > 0 && { duration_s: left }),
  };
}

/** The forced mode, with its power and its span. */
export function ModeControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data: bank, problem } = useLive(get('controls/battery', { query }));
  const winner = winnerOf(useWhy(device.device_index));
  const [power, setPower] = useState<number | null>(null);
  // undefined: the time that is left goes on
  const [span, setSpan] = useState<number | null | undefined>(undefined);
  if (bank === undefined) return <UnreadControl problem={problem} />;
  const { requested_mode: mode, remaining_s: left } = bank;
  const isMoving = mode === 'charge' || mode === 'discharge';
  const max = Math.max(bank.max_charge_kw, bank.max_discharge_kw, 0.1);
  const kw = isMoving ? bank.requested_power_kw : (power ?? max);
  const spanS = span === undefined ? left : span;
  const bodyOf = (to: Mode, toKw: number | null): Forced => ({
    mode: to,
    ...((to === 'charge' || to === 'discharge') && toKw !== null && { power_kw: toKw }),
    ...(to !== 'auto' && spanS !== null && spanS > 0 && { duration_s: spanS }),
  });
  const call = (body: Forced) => post('controls/battery', { query, body });
  const undo = call(restoring(bank));
  const clamped = isMoving && bank.clamped_power_kw !== bank.requested_power_kw;
  return (
    <>
      <Choice
        name="Mode"
        note={
          <span data-test="forced-mode">
            {mode === 'auto'
              ? 'follows grid support'
              : `${setBy(bank.forced_by)}${left !== null && left > 0 ? `, ${duration(Math.round(left))} left` : ''}`}
          </span>
        }
        value={mode}
        options={modes}
        callOf={(to) => call(bodyOf(to, power ?? kw))}
        undo={undo}
      />
      <Setter
        name="Power at the DC side"
        value={kw}
        min={0}
        max={max}
        unit="kW"
        decimals={2}
        note={
          clamped
            ? `held at ${show(bank.clamped_power_kw, 'activePower')}`
            : isMoving
              ? 'in force'
              : 'for Charge and Discharge'
        }
        limit={isMoving ? (winner?.kw ?? null) : null}
        callOf={(value) => call(bodyOf(isMoving ? mode : 'charge', value))}
        {...(!isMoving && { onSet: setPower })}
        undo={undo}
      >
        <div class="row" role="group" aria-label="Span of a forced mode">
          {forcedSpans.map(([title, seconds]) => (
            <button
              key={title}
              type="button"
              class="small"
              title={`duration_s: ${String(seconds)}`}
              aria-pressed={seconds === spanS}
              onClick={() => setSpan(seconds)}
            >
              {title}
            </button>
          ))}
        </div>
      </Setter>
    </>
  );
}

/** Number of strings that have a button on the picture; the table of the tab Cells has all. */
const maxStrings = 6;

/** Contactors of the strings. */
export function StringsControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const strings = useLive(get('battery', { query: { ...query, detail: 'strings' } })).data?.strings ?? [];
  if (strings.length === 0) return null;
  const open = strings.filter(({ contactor }) => contactor === 'open').length;
  return (
    <ControlGroup name="Strings" note={open === 0 ? 'all closed' : `${open} of ${strings.length} open`}>
      <div class="row">
        {strings.slice(0, maxStrings).map(({ index, contactor }) => {
          const to = contactor === 'closed' ? 'open' : 'closed';
          return (
            <Action
              key={index}
              call={post('controls/battery', { query, body: { strings: [{ index, contactor: to }] } })}
            >
              {`${to === 'open' ? 'Open' : 'Close'} string ${index}`}
            </Action>
          );
        })}
      </div>
    </ControlGroup>
  );
}

export function BatteryControls({ device }: PageProps) {
  return (
    <>
      <ModeControl device={device} />
      <ChargeControl device={device} />
      <PowerLimitControl device={device} />
      <StringsControl device={device} />
    </>
  );
}
