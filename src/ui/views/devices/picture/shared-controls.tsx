/** Controls that several kinds of devices have. */
import { get, post } from '../../../api/call';
import type { BodyOf, ReplyOf } from '../../../api/call';
import { fixed, remaining } from '../../../look/format';
import { useLive } from '../../../store/live';
import { setBy, writerText } from '../page';
import type { PageProps } from '../page';
import { useWhy, winnerOf } from '../waterfall/chain';
import { Setter, UnreadControl } from './control';
import { ambientPresets, chargePresets, hintOf, irradiancePresets, powerLimitPresets } from './presets';

const sources: Readonly<Record<string, string>> = { csv: 'from data', clear_sky: 'clear sky' };

type Environment = ReplyOf<'controls/environment'>;
type Quantity = Environment['overridden'][number];

/** The weather of a device; without `data` before it has been read. */
function useWeather(device: number) {
  const query = { device };
  const { data, problem } = useLive(get('controls/environment', { query }));
  const common = useLive(get('controls/environment')).data;
  if (data === undefined) return { data, problem };
  // a gateway has no common weather
  const isDeviating = common?.deviating_devices.includes(device) ?? true;
  const callOf = (body: BodyOf<'controls/environment'>) => post('controls/environment', { query, body });
  const isSet = (name: Quantity) => data.overridden.includes(name);
  /** Sets the present value again, or ends the deviation that a change would begin. */
  const undoOf = (name: Quantity) =>
    isDeviating ? callOf({ [name]: isSet(name) ? data[name] : null }) : callOf({ source: 'csv' });
  return { data, callOf, isSet, undoOf };
}

export function IrradianceControl({ device }: PageProps) {
  const weather = useWeather(device.device_index);
  if (weather.data === undefined) return <UnreadControl problem={weather.problem} />;
  const { irradiance_w_m2: present, source, changed_by: by, duration_remaining_s: left } = weather.data;
  const isSet = weather.isSet('irradiance_w_m2');
  const span = left === null ? '' : `, ${remaining(left)} left`;
  return (
    <Setter
      name="Irradiance"
      value={present}
      min={0}
      max={1200}
      unit="W/m²"
      decimals={0}
      dragStep={10}
      note={isSet ? `${setBy(by)}${span}` : (sources[source] ?? source)}
      callOf={(value) => weather.callOf({ irradiance_w_m2: value })}
      undo={weather.undoOf('irradiance_w_m2')}
      presets={irradiancePresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: weather.callOf(body),
        pressed:
          body.duration_s === undefined && (isSet ? body.irradiance_w_m2 === present : body.irradiance_w_m2 === null),
      }))}
    />
  );
}

export function AmbientControl({ device }: PageProps) {
  const weather = useWeather(device.device_index);
  if (weather.data === undefined) return <UnreadControl problem={weather.problem} />;
  const { ambient_temperature_c: present, changed_by: by } = weather.data;
  const isSet = weather.isSet('ambient_temperature_c');
  return (
    <Setter
      name="Ambient temperature"
      value={present}
      min={-20}
      max={50}
      unit="°C"
      decimals={1}
      note={isSet ? setBy(by) : 'from data'}
      callOf={(value) => weather.callOf({ ambient_temperature_c: value })}
      undo={weather.undoOf('ambient_temperature_c')}
      presets={ambientPresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: weather.callOf(body),
        pressed: isSet ? body.ambient_temperature_c === present : body.ambient_temperature_c === null,
      }))}
    />
  );
}

/** The limit of active power (704), in percent of the maximum. */
export function PowerLimitControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('grid-support/max-power', { query }));
  const winner = winnerOf(useWhy(device.device_index));
  if (data === undefined) return <UnreadControl problem={problem} />;
  if (!data.supported) return null;
  const { enabled, limit_pct: pct, source, changed_at } = data;
  const call = (body: Parameters<typeof hintOf>[0]) => post('grid-support/max-power', { query, body });
  const inForce = enabled ? pct : 100;
  return (
    <Setter
      name="Active power limit"
      value={inForce}
      min={0}
      max={100}
      unit="%"
      decimals={0}
      note={enabled ? writerText({ source, source_detail: null, changed_at }) : 'not set'}
      limit={winner?.pct ?? null}
      callOf={(value) => call({ enabled: true, limit_pct: value })}
      undo={call(enabled && pct !== null ? { enabled, limit_pct: pct } : { enabled: false })}
      presets={powerLimitPresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: call(body),
        pressed: body.enabled === true ? enabled && body.limit_pct === pct : !enabled,
      }))}
    />
  );
}

/** State of charge of a battery. */
export function ChargeControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('controls/battery', { query }));
  if (data === undefined) return <UnreadControl problem={problem} />;
  const callOf = (value: number) => post('controls/battery', { query, body: { soc_pct: value } });
  return (
    <Setter
      name="State of charge"
      value={data.soc_pct}
      min={0}
      max={100}
      unit="%"
      decimals={1}
      note={`${fixed(data.energy_available_kwh, 2)} of ${fixed(data.capacity_kwh, 2)} kWh`}
      callOf={callOf}
      undo={callOf(data.soc_pct)}
      presets={chargePresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: post('controls/battery', { query, body }),
        pressed: body.soc_pct === data.soc_pct,
      }))}
    />
  );
}
