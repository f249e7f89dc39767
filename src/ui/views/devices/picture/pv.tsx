import { get, post } from '../../../api/call';
import { fixed, show, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import type { PageProps } from '../page';
import { AcSide, useMetrics, useRating } from './ac-side';
import { Setter, UnreadControl } from './control';
import { hintOf, shadingPresets } from './presets';
import { AmbientControl, IrradianceControl, PowerLimitControl } from './shared-controls';
import { Box, Inset, Wire } from './wires';

/** The curve of a DC port with its operating point. */
export function CurveInset({ device, port }: { readonly device: number; readonly port: number }) {
  const { data } = useLive(get('dc-iv', { query: { device, port, points: 64 } }));
  if (data === undefined || data.curve.length === 0) return null;
  const { curve, operating_point: at } = data;
  const ends = (values: readonly number[], decimals: number) =>
    `${fixed(Math.min(...values), decimals)}–${fixed(Math.max(...values), decimals)}`;
  return (
    <Inset
      label="Current over voltage"
      points={curve.map(({ v, i }) => [v, i])}
      at={[at.v, at.i]}
      ranges={[
        `${ends([0, ...curve.map(({ i }) => i)], 0)}\u00a0A`,
        `${ends(
          curve.map(({ v }) => v),
          0,
        )}\u00a0V`,
      ]}
    />
  );
}

/** One DC input of the inverter, with its curve where there is room for it. */
function ArrayBox({
  device,
  port,
  alone,
}: {
  readonly device: number;
  readonly port: number;
  readonly alone: boolean;
}) {
  const { data } = useLive(get('dc-iv', { query: { device, port, points: 64 } }));
  return (
    <Box title={alone ? 'PV array' : `Input ${port}`} end={show(data?.cell_temperature_c, 'temperature')}>
      <span data-test={`operating-point-${port}`}>
        {show(data?.operating_point.v, 'voltage')}, {show(data?.operating_point.i, 'current')}
      </span>
      {alone && <CurveInset device={device} port={port} />}
    </Box>
  );
}

/** Number of inputs that are drawn one by one. */
const maxInputs = 3;

export function PvPicture({ device }: PageProps) {
  const { device_index: index, dc_port_count: ports } = device;
  const query = { device: index };
  const environment = useLive(get('controls/environment', { query })).data;
  const metrics = useMetrics(device);
  const rating = useRating(device);
  const count = Math.min(maxInputs, Math.max(1, ports));
  const kw = metrics?.dc_power_kw ?? null;
  const sun = (
    <Box title="Sun" tall>
      <span>{show(environment?.irradiance_w_m2, 'irradiance')}</span>
      <small>air {show(environment?.ambient_temperature_c, 'temperature')}</small>
    </Box>
  );
  if (count === 1)
    return (
      <>
        {sun}
        <Wire name="sun to array" kw={kw} ratingKw={rating} />
        <ArrayBox device={index} port={0} alone />
        <Wire name="array to inverter" kw={kw} ratingKw={rating} />
        <AcSide device={device} />
      </>
    );
  return (
    <>
      {sun}
      <div class="branches through">
        {Array.from({ length: count }, (_unused, port) => (
          <div key={port} class="branch">
            <Wire name="sun to array" kw={kw} ratingKw={rating} />
            <ArrayBox device={index} port={port} alone={false} />
            <Wire name="array to inverter" kw={kw} ratingKw={rating} />
          </div>
        ))}
        {ports > count && <small class="muted">and {ports - count} more inputs, see Details</small>}
      </div>
      <AcSide device={device} tall />
    </>
  );
}

/** Irradiance of shaded modules where nothing is shaded yet. */
const shadeShare = 0.2;

const trackerWords: Readonly<Record<string, string>> = {
  track: 'at the maximum',
  limit: 'held back',
  start: 'starts',
};

function ShadingControl({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('controls/shading', { query }));
  if (data === undefined) return <UnreadControl problem={problem} />;
  const { shaded_share: share, irradiance_share: light, mppt_state: tracker } = data;
  const call = (body: { readonly shaded_share: number; readonly irradiance_share: number }) =>
    post('controls/shading', { query, body });
  return (
    <Setter
      name="Shaded modules"
      value={share * 100}
      min={0}
      max={100}
      unit="%"
      decimals={0}
      note={`${share > 0 ? `with ${fixed(light * 100, 0)} % of the sun, ` : ''}tracker ${trackerWords[tracker] ?? words(tracker)}`}
      callOf={(value) =>
        call({ shaded_share: value / 100, irradiance_share: share > 0 && light < 1 ? light : shadeShare })
      }
      undo={call({ shaded_share: share, irradiance_share: light })}
      presets={shadingPresets.map(([title, body]) => ({
        title,
        hint: hintOf(body),
        call: call(body),
        pressed: body.shaded_share === share,
      }))}
    />
  );
}

export function PvControls({ device }: PageProps) {
  return (
    <>
      <IrradianceControl device={device} />
      <PowerLimitControl device={device} />
      <ShadingControl device={device} />
      <AmbientControl device={device} />
    </>
  );
}
