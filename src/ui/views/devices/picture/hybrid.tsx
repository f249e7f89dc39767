import { get, post } from '../../../api/call';
import { show } from '../../../look/format';
import { useLive } from '../../../store/live';
import { setBy } from '../page';
import type { PageProps } from '../page';
import { useWhy, winnerOf } from '../waterfall/chain';
import { AcSide, useRating } from './ac-side';
import { ModeControl, StringsControl, motions } from './battery';
import { Choice, Setter, UnreadControl } from './control';
import { ChargeControl, IrradianceControl, PowerLimitControl } from './shared-controls';
import { CurveInset } from './pv';
import { Box, Level, Wire } from './wires';

export function HybridPicture({ device }: PageProps) {
  const query = { device: device.device_index };
  const hybrid = useLive(get('hybrid-dc', { query })).data;
  const rating = useRating(device);
  const { pv, battery, inverter } = hybrid ?? {};
  const size = (kw: number | undefined) => show(kw === undefined ? kw : Math.abs(kw), 'activePower');
  return (
    <>
      <div class="branches from">
        <div class="branch">
          <Box title="PV array" end={<span data-test="hybrid-pv">{size(pv?.power_kw)}</span>}>
            <small>
              {show(pv?.irradiance_w_m2, 'irradiance')}, {show(pv?.voltage_v, 'voltage')}
            </small>
            <CurveInset device={device.device_index} port={0} />
          </Box>
          <Wire name="array to DC bus" kw={pv?.power_kw ?? null} ratingKw={rating} />
        </div>
        <div class="branch">
          <Box title="Battery" end={show(battery?.soc_pct, 'soc')}>
            {battery && (
              <Level
                label="State of charge"
                pct={battery.soc_pct}
                marks={[
                  ['min', battery.soc_min_pct],
                  ['max', battery.soc_max_pct],
                ]}
              />
            )}
            <small>
              <span data-test="hybrid-battery">{size(battery?.power_kw)}</span> {battery && motions[battery.mode]}
            </small>
          </Box>
          <Wire name="battery to DC bus" kw={battery?.power_kw ?? null} ratingKw={rating} />
        </div>
      </div>
      <Box title="DC bus" tall>
        <small>{show(hybrid?.bus_voltage_v, 'voltage')}</small>
        <small>losses {show(hybrid?.losses_kw, 'activePower')}</small>
      </Box>
      <Wire name="DC bus to inverter" kw={inverter?.dc_power_kw ?? null} ratingKw={rating} />
      <AcSide device={device} />
    </>
  );
}

const policies = [
  ['self_consumption', 'Self-consumption'],
  ['pv_priority', 'PV first'],
  ['manual', 'Manual'],
] as const;

function Dispatch({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data: hybrid, problem } = useLive(get('hybrid-dc', { query }));
  const winner = winnerOf(useWhy(device.device_index));
  if (hybrid === undefined) return <UnreadControl problem={problem} />;
  const { policy, inverter, battery, manual_target_kw: target, manual_battery_kw: flow } = hybrid;
  const policyCall = (to: typeof policy) => post('hybrid-dc/dispatch', { query, body: { policy: to } });
  const kw = target ?? inverter.ac_power_kw;
  const manual = (body: { readonly target_kw?: number; readonly battery_kw?: number | null }) =>
    post('hybrid-dc/manual', { query, body: { target_kw: kw, ...body } });
  const unable = policy === 'manual' ? null : 'Applies in policy Manual.';
  return (
    <>
      <Choice
        name="Policy"
        note={<span data-test="hybrid-policy">{setBy(hybrid.policy_by)}</span>}
        value={policy}
        options={policies}
        callOf={policyCall}
        undo={policyCall(policy)}
      />
      <Setter
        name="AC output"
        value={kw}
        min={-inverter.rated_kva}
        max={inverter.rated_kva}
        unit="kW"
        decimals={2}
        note={
          <span data-test="hybrid-target">
            {target === null ? 'not set' : `${show(target, 'activePower')}, ${setBy(hybrid.manual_target_by)}`}
          </span>
        }
        limit={winner?.kw ?? null}
        callOf={(value) => manual({ target_kw: value })}
        undo={target === null ? null : manual({ target_kw: target })}
        unable={unable}
      />
      {unable === null && (
        <Setter
          name="Battery flow"
          value={flow ?? battery.power_kw}
          min={-battery.max_charge_kw}
          max={battery.max_discharge_kw}
          unit="kW"
          decimals={2}
          note={flow === null ? 'follows the output' : setBy(hybrid.manual_battery_by)}
          callOf={(value) => manual({ battery_kw: value })}
          undo={manual({ battery_kw: flow })}
          presets={[
            {
              title: 'Follows the output',
              hint: 'battery_kw: null',
              call: manual({ battery_kw: null }),
              pressed: flow === null,
            },
          ]}
        />
      )}
    </>
  );
}

export function HybridControls({ device }: PageProps) {
  return (
    <>
      <Dispatch device={device} />
      <IrradianceControl device={device} />
      <ChargeControl device={device} />
      <details class="more">
        <summary>Force the battery, limit the power</summary>
        <ModeControl device={device} />
        <PowerLimitControl device={device} />
        <StringsControl device={device} />
      </details>
    </>
  );
}
