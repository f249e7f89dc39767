/** Sun, air, wind, shade and load as sliders. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import type { BodyOf, Call, ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { deviceLabel } from '../../kit/choices';
import { InPlaceButton, InPlaceSlider } from '../../kit/in-place';
import { Chip, Empty, Panel } from '../../kit/panel';
import { Segments } from '../../kit/segments';
import { duration, show } from '../../look/format';
import { useLive } from '../../store/live';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { Deviations } from './deviations';
import { scaleFor } from './scale';
import { callsFor, membersOf, queriesOf, ScopePicker, useScope, Writer } from './scope';
import type { Scope } from './scope';
import { OverTime, useTiming } from './timing';
import type { Timing } from './timing';

type Environment = ReplyOf<'controls/environment'>;
type Body = BodyOf<'controls/environment'>;
type Quantity = Environment['overridden'][number];

const sources: Readonly<Record<Environment['source'], string>> = {
  const: 'constant',
  csv: 'from data',
  clear_sky: 'clear sky',
};

/** The common data of the sliders. */
interface Part {
  readonly scope: Scope;
  readonly data: Environment | undefined;
  readonly isDeviating: boolean;
  readonly timing: Timing;
}

function callsOf({ scope }: Part, body: Body): readonly Call[] {
  return callsFor(scope, (query) => post('controls/environment', { query, body }));
}

/** Calls that set the present value of a quantity again, or return it to its source. */
function undoOf(part: Part, name: Quantity): readonly Call[] {
  const { data, scope, isDeviating } = part;
  if (data === undefined || ((scope.devices?.length ?? 1) > 1 && isDeviating)) return [];
  if (scope.devices !== undefined && !isDeviating) return callsOf(part, { source: 'csv' });
  return callsOf(part, { [name]: data.overridden.includes(name) ? data[name] : null });
}

interface QuantityProps {
  readonly part: Part;
  readonly quantity: Quantity;
  readonly name: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly typedMax?: number;
  readonly step: number;
  readonly decimals: number;
  readonly presets: readonly (readonly [title: string, value: number])[];
  /** where the value comes from while nothing is set */
  readonly source: string;
  /** text of the button that ends what was set, or other buttons */
  readonly release: ComponentChildren;
}

/** One quantity of the weather, with a button that returns it to its source. */
function QuantitySlider({ part, quantity, source, release, ...slider }: QuantityProps) {
  const { data, timing } = part;
  const isSet = data?.overridden.includes(quantity) ?? false;
  const undo = undoOf(part, quantity);
  return (
    <InPlaceSlider
      {...slider}
      value={data?.[quantity]}
      note={data && (isSet ? 'constant' : source)}
      placeholder="model"
      follows={!isSet}
      callsOf={(value) => callsOf(part, { [quantity]: value, ...timing })}
      undo={undo}
    >
      {typeof release === 'string' ? (
        <InPlaceButton
          text={`${slider.name}: ${source}`}
          calls={callsOf(part, { [quantity]: null })}
          undo={undo}
          pressed={data !== undefined && !isSet}
        >
          {release}
        </InPlaceButton>
      ) : (
        release
      )}
    </InPlaceSlider>
  );
}

/** Sources of the irradiance as buttons. Source csv of a device would end all its deviations, not only the irradiance. */
function SunSources({ part }: { readonly part: Part }) {
  const { data, scope } = part;
  const bodies: readonly (readonly [source: 'csv' | 'clear_sky', title: string, body: Body])[] = [
    ['csv', 'From data', scope.devices === undefined ? { source: 'csv' } : { irradiance_w_m2: null }],
    ['clear_sky', 'Clear sky', { source: 'clear_sky' }],
  ];
  return (
    <>
      {bodies.map(([source, title, body]) => (
        <InPlaceButton
          key={source}
          text={`Irradiance: ${sources[source]}`}
          calls={callsOf(part, body)}
          undo={undoOf(part, 'irradiance_w_m2')}
          pressed={data?.source === source}
        >
          {title}
        </InPlaceButton>
      ))}
    </>
  );
}

function Sun({ part }: { readonly part: Part }) {
  const { data } = part;
  return (
    <Panel title="Sun and air">
      <QuantitySlider
        part={part}
        quantity="irradiance_w_m2"
        name="Irradiance"
        unit="W/m²"
        min={0}
        max={1200}
        typedMax={1500}
        step={10}
        decimals={0}
        presets={[
          ['Night', 0],
          ['Cloud', 250],
          ['Hazy', 600],
          ['Noon', 1000],
        ]}
        source={data === undefined ? 'from data' : sources[data.source]}
        release={<SunSources part={part} />}
      />
      <QuantitySlider
        part={part}
        quantity="ambient_temperature_c"
        name="Ambient temperature"
        unit="°C"
        min={-50}
        max={50}
        typedMax={90}
        step={1}
        decimals={1}
        presets={[
          ['Frost', -10],
          ['Mild', 20],
          ['Heat', 40],
        ]}
        source="from data"
        release="From data"
      />
      <QuantitySlider
        part={part}
        quantity="cell_temperature_c"
        name="Cell temperature"
        unit="°C"
        min={-50}
        max={90}
        step={1}
        decimals={1}
        presets={[
          ['Standard, 25\u00a0°C', 25],
          ['Hot', 70],
        ]}
        source="from the model"
        release="From model"
      />
    </Panel>
  );
}

function Load({ part, membersCount }: { readonly part: Part; readonly membersCount: number }) {
  const loadKw = part.data?.load_kw ?? 0;
  return (
    <Panel title="Load">
      <QuantitySlider
        part={part}
        quantity="load_kw"
        name={membersCount > 1 ? 'Load beside each device' : 'Load beside the device'}
        unit="kW"
        min={0}
        max={scaleFor(loadKw, 20)}
        typedMax={1e6}
        step={scaleFor(loadKw, 20) / 200}
        decimals={2}
        presets={[
          ['None', 0],
          ['House', 2],
          ['Workshop', 10],
        ]}
        source="from data"
        release="From data"
      />
    </Panel>
  );
}

/** Wind speeds of the buttons, m/s. */
const windPresets = [
  ['Calm', 0],
  ['Breeze', 6],
  ['Rated', 12],
  ['Gust', 20],
  ['Storm', 28],
] as const;

/** The wind of the turbines of the scope; absent without a turbine. */
function Wind({ turbines }: { readonly turbines: readonly DeviceEntry[] }) {
  const [height, setHeight] = useState<'hub' | 'anemometer'>('hub');
  const [first] = turbines;
  const { data, problem } = useLive(first ? get('wind', { query: { device: first.device_index } }) : null);
  if (first === undefined) return null;
  const speed = height === 'hub' ? data?.wind_speed_m_s : data?.wind_speed_measured_m_s;
  const override = data?.override_wind_speed_m_s ?? null;
  const callsOfSpeed = (body: BodyOf<'wind/override'>) =>
    turbines.map(({ device_index: device }) => post('wind/override', { query: { device }, body }));
  const undo = data === undefined || turbines.length > 1 ? [] : callsOfSpeed({ wind_speed_m_s: override });
  return (
    <Panel
      title="Wind"
      tools={
        <Segments
          label="Height of the wind speed"
          options={[
            ['hub', 'At the hub'],
            ['anemometer', 'Measured'],
          ]}
          value={height}
          onChoice={setHeight}
        />
      }
    >
      <InPlaceSlider
        name="Wind speed"
        value={speed}
        min={0}
        max={30}
        typedMax={60}
        step={0.1}
        decimals={1}
        unit="m/s"
        note={
          data && (
            <>
              {override === null ? 'from data' : 'constant'}
              {data.override_by && (
                <>
                  , <Writer by={data.override_by} />
                </>
              )}
            </>
          )
        }
        presets={windPresets}
        follows={override === null}
        callsOf={(wind) => callsOfSpeed({ wind_speed_m_s: wind, height })}
        undo={undo}
      >
        <InPlaceButton
          text="Wind speed: from data"
          calls={callsOfSpeed({ wind_speed_m_s: null })}
          undo={undo}
          pressed={data !== undefined && override === null}
        >
          From data
        </InPlaceButton>
      </InPlaceSlider>
      {turbines.length > 1 && <p class="muted">Shown is {deviceLabel(first)}; a change is for all turbines.</p>}
      <Refused problem={problem} />
    </Panel>
  );
}

/** Light on modules that get shaded: in full sun the shade would have no effect. */
const firstLight = 0.2;

/** Shade on the arrays of the scope; absent without an array. */
function Shade({ arrays }: { readonly arrays: readonly DeviceEntry[] }) {
  const [input, setInput] = useState<number | 'all'>('all');
  const [first] = arrays;
  const { data, problem } = useLive(first ? get('controls/shading', { query: { device: first.device_index } }) : null);
  if (first === undefined) return null;
  const inputs = data?.inputs ?? [];
  const present = inputs.find((each) => each.input === input) ?? data;
  const [shaded, light] = [present?.shaded_share ?? 0, present?.irradiance_share ?? 1];
  const isShaded = shaded > 0;
  const callsOfShade = (shadedShare: number, irradianceShare: number) =>
    arrays.map(({ device_index: device }) =>
      post('controls/shading', {
        query: { device },
        body: {
          shaded_share: shadedShare,
          irradiance_share: irradianceShare,
          ...(input !== 'all' && { input }),
        },
      }),
    );
  const undo = data === undefined || arrays.length > 1 ? [] : callsOfShade(shaded, light);
  const share = (pct: number) => Number((pct / 100).toFixed(4));
  return (
    <Panel
      title="Shade"
      tools={
        inputs.length > 1 && (
          <Segments
            label="Input"
            options={[['all', 'All inputs'], ...inputs.map((each) => [each.input, each.name] as const)]}
            value={input}
            onChoice={setInput}
          />
        )
      }
    >
      <InPlaceSlider
        name="Shaded modules"
        value={present && shaded * 100}
        min={0}
        max={100}
        step={1}
        decimals={1}
        unit="%"
        note={data?.changed_by && <Writer by={data.changed_by} />}
        presets={[
          ['None', 0],
          ['A third', 33],
          ['Half', 50],
        ]}
        callsOf={(pct) => callsOfShade(share(pct), isShaded ? light : firstLight)}
        undo={undo}
      />
      <InPlaceSlider
        name="Light on the shaded modules"
        value={present && light * 100}
        min={0}
        max={100}
        step={1}
        decimals={1}
        unit="%"
        note={isShaded ? '100 % is full sun' : 'no module is shaded'}
        disabled={!isShaded}
        presets={[
          ['Dark', 0],
          ['Dim', 20],
          ['Full', 100],
        ]}
        callsOf={(pct) => callsOfShade(shaded, share(pct))}
        undo={undo}
      />
      {arrays.length > 1 && <p class="muted">Shown is {deviceLabel(first)}; a change is for all arrays.</p>}
      <Refused problem={problem} />
    </Panel>
  );
}

const isWind = ({ asset_type: kind }: DeviceEntry) => kind === 'wind';
const hasArray = ({ asset_type: kind }: DeviceEntry) => kind === 'pv' || kind === 'hybrid-dc';

function WeatherState({ data }: { readonly data: Environment }) {
  const [ramp, left] = [data.ramp_remaining_s, data.duration_remaining_s];
  return (
    <p class="state-line" data-test="weather-state">
      <strong>{show(data.irradiance_w_m2, 'irradiance')}</strong>
      <span class="muted">{sources[data.source]}</span>
      <strong>{show(data.ambient_temperature_c, 'temperature')}</strong>
      <span>load {show(data.load_kw, 'activePower')}</span>
      {ramp > 0 && <Chip tone="warn">ramp, {duration(ramp)} left</Chip>}
      {left !== null && <Chip tone="warn">{duration(left)} left</Chip>}
      <span class="muted">
        Set by: <Writer by={data.changed_by} />
      </span>
    </p>
  );
}

const commonCall = get('controls/environment');

export function WeatherTab() {
  const scope = useScope();
  const [timing, setTiming] = useTiming();
  const devices = membersOf(scope, useOverview()?.devices ?? []);
  const [query = {}] = queriesOf(scope);
  const { data, problem } = useLive(get('controls/environment', { query }));
  const deviating = useLive(commonCall).data?.deviating_devices ?? [];
  const isDeviating = scope.devices?.some((index) => deviating.includes(index)) ?? false;
  const part = { scope, data, isDeviating, timing };
  return (
    <>
      <Panel
        title="Weather & load"
        tools={
          <>
            <ScopePicker />
            {isDeviating && (
              <InPlaceButton
                text={`${scope.title}: the common weather`}
                calls={callsOf(part, { source: 'csv' })}
                undo={[]}
              >
                Back to the common weather
              </InPlaceButton>
            )}
          </>
        }
      >
        {data && <WeatherState data={data} />}
        <Refused problem={problem} />
        <OverTime timing={timing} onTiming={setTiming} />
      </Panel>
      {devices.length === 0 && <Empty>No device yet.</Empty>}
      <div class="inputs" key={scope.name}>
        <div class="stack">
          <Sun part={part} />
          <Load part={part} membersCount={devices.length} />
        </div>
        <div class="stack">
          <Wind turbines={devices.filter(isWind)} />
          <Shade arrays={devices.filter(hasArray)} />
        </div>
      </div>
      {scope.devices === undefined && (
        <Deviations
          title="Not in the common weather"
          common="common weather"
          devices={deviating}
          backCall={(device) => post('controls/environment', { query: { device }, body: { source: 'csv' } })}
        />
      )}
    </>
  );
}
