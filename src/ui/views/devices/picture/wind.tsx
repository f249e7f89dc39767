import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import { Segments } from '../../../kit/segments';
import { fixed, show, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { setBy } from '../page';
import type { PageProps } from '../page';
import { AcSide, useRating } from './ac-side';
import { Setter, UnreadControl } from './control';
import { windPresets } from './presets';
import { PowerLimitControl } from './shared-controls';
import { Box, Inset, Wire } from './wires';

export function WindPicture({ device }: PageProps) {
  const query = { device: device.device_index };
  const wind = useLive(get('wind', { query })).data;
  const curve = useLive(get('wind/power-curve', { query }), 'once').data?.points ?? [];
  const rating = useRating(device);
  const rotorKw = wind?.mechanical_power_kw ?? null;
  const maxSpeed = Math.max(0, ...curve.map((point) => point.wind_speed_m_s));
  return (
    <>
      <Box title="Wind" end={<span data-test="wind-speed">{show(wind?.wind_speed_m_s, 'windSpeed')}</span>}>
        <small data-test="wind-source">{wind && (wind.source === 'override' ? 'set here' : 'from data')}</small>
        <Inset
          label="Power over wind speed"
          points={curve.map((point) => [point.wind_speed_m_s, point.mechanical_power_kw])}
          at={[wind?.wind_speed_m_s ?? 0, rotorKw ?? 0]}
          ranges={[`0–${show(wind?.rated_power_kw, 'activePower')}`, `0–${fixed(maxSpeed, 0)}\u00a0m/s`]}
        />
      </Box>
      <Wire name="wind to rotor" kw={rotorKw} ratingKw={rating} />
      <Box title="Rotor" off={wind?.state === 'stopped'}>
        <span>{show(rotorKw, 'activePower')}</span>
        <small data-test="rotor-rpm">{show(wind?.rotor_rpm, 'speed')}</small>
        <small>pitch {show(wind?.pitch_deg, 'angle')}</small>
      </Box>
      <Wire name="rotor to converter" kw={wind?.electrical_power_kw ?? null} ratingKw={rating} />
      <AcSide device={device} title="Converter" />
    </>
  );
}

type Height = 'hub' | 'anemometer';

function WindControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('wind', { query }));
  const [height, setHeight] = useState<Height>('hub');
  if (data === undefined) return <UnreadControl problem={problem} />;
  const { override_wind_speed_m_s: override } = data;
  const callOf = (value: number | null) =>
    post('wind/override', { query, body: { wind_speed_m_s: value, ...(value !== null && { height }) } });
  return (
    <Setter
      name="Wind"
      value={override ?? (height === 'hub' ? data.wind_speed_m_s : data.wind_speed_measured_m_s)}
      min={0}
      max={30}
      unit="m/s"
      decimals={1}
      note={
        data.source === 'override' ? setBy(data.override_by) : `from data, ${data.dataset?.name ?? words(data.source)}`
      }
      callOf={callOf}
      undo={callOf(override)}
      presets={windPresets.map(([title, value]) => ({
        title,
        hint: value === null ? 'wind_speed_m_s: null' : `${value} m/s`,
        call: callOf(value),
        pressed: value === override,
      }))}
    >
      <div class="row">
        <small class="muted">at the height of the</small>
        <Segments
          label="Height"
          options={[
            ['hub', 'hub'],
            ['anemometer', 'anemometer'],
          ]}
          value={height}
          onChoice={setHeight}
        />
      </div>
    </Setter>
  );
}

export function WindControls({ device }: PageProps) {
  return (
    <>
      <WindControl device={device} />
      <PowerLimitControl device={device} />
    </>
  );
}
