import { get, anyCall } from '../../../api/call';
import { Empty, Chip, Panel } from '../../../kit/panel';
import { useLive } from '../../../store/live';
import { deviceHref, route } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { Changes, Gradient } from './changes';
import { CurvePage } from './curve-page';
import type { PageProps } from './curve-page';
import { DerControls } from './der-controls';
import { DroopPage } from './droop-page';
import { functions, pathOf } from './functions';
import type { Settings, FunctionEntry } from './functions';
import { Holds } from './holds';
import { TripPage } from './trip-page';
import { FunctionValues } from './values-form';
import { Why, WhyLine } from './why';
import type { Controls } from './why';
import { Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { show, timeOfDay } from '../../../look/format';
import { hasDraft } from './points';

type Mode = Controls['modes'][keyof Controls['modes']];

interface ListProps {
  readonly device: number;
  readonly all: Readonly<Record<string, Settings | undefined>>;
  readonly controls: Controls | undefined;
  readonly chosen: string;
}

/** All functions with switch, state and writer. */
function FunctionList({ device, all, controls, chosen }: ListProps) {
  return (
    <Panel title="Functions" flush>
      <ul class="functions" aria-label="Functions">
        {functions.map((entry) => (
          <Row
            key={entry.name}
            device={device}
            entry={entry}
            settings={all[entry.name]}
            mode={controls?.modes[entry.mode]}
            chosen={entry.name === chosen}
          />
        ))}
      </ul>
    </Panel>
  );
}

interface RowProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly settings: Settings | undefined;
  readonly mode: Mode | undefined;
  readonly chosen: boolean;
}

function Row({ device, entry: { name, title, model }, settings, mode, chosen }: RowProps) {
  const { busy, problem, run } = useDo();
  const supported = settings?.['supported'] === true;
  const enabled = settings?.['enabled'] === true;
  const call = anyCall('POST', `grid-support/${pathOf(name)}`, { device }, { enabled: !enabled });
  return (
    <li class={chosen ? 'chosen' : undefined} data-function={name}>
      <div class="row">
        <input
          type="checkbox"
          role="switch"
          aria-label={`${title} enabled`}
          checked={enabled}
          disabled={!supported || busy || name === 'ramp'}
          onClick={(event) => {
            event.preventDefault();
            void run(call);
          }}
        />
        <a href={deviceHref(device, `grid-support/${pathOf(name)}`)} aria-current={chosen ? 'true' : undefined}>
          {title}
        </a>
        <span class="muted">{model}</span>
        {supported && name !== 'ramp' && <CallLine call={call} />}
      </div>
      <div class="row note">
        {supported ? <State mode={mode} enabled={enabled} /> : <span class="muted">not a function of this device</span>}
        {hasDraft(device, name) && <Chip tone="warn">draft</Chip>}
      </div>
      <Refused problem={problem} />
    </li>
  );
}

function State({ mode, enabled }: { readonly mode: Mode | undefined; readonly enabled: boolean }) {
  const tone = mode?.active ? 'good' : enabled ? 'muted' : 'off';
  return (
    <>
      <Chip tone={tone}>{mode?.active ? 'active' : enabled ? 'on, not active' : 'off'}</Chip>
      <span class="muted" title={mode?.source_detail ?? undefined}>
        {mode?.source ?? ''}
        {mode?.changed_at ? ` ${timeOfDay(mode.changed_at)}` : ''}
      </span>
      {mode?.reversion_remaining_s != null && <span>reverts in {show(mode.reversion_remaining_s, 'seconds')}</span>}
    </>
  );
}

const tabs = [
  ['volt-var', 'Functions'],
  ['why', 'Numbers'],
  ['holds', 'Holds'],
  ['changes', 'Changes'],
  ['gradient', 'Gradient'],
] as const;

/** Of charging stations only. */
const stationTabs = [['der-controls', 'DER controls']] as const;

/** Functions of grid support with settings and writers, and the reason for the power. */
export function GridSupportView() {
  const entry = useDevice();
  const device = entry?.device_index;
  const isStation = entry?.asset_type === 'evse';
  const [, , , page = 'volt-var'] = route.value.path;
  const isFunction = functions.some(({ name }) => pathOf(name) === page);
  return (
    <>
      {device !== undefined && <WhyLine device={device} />}
      <nav class="tabs" aria-label="Grid support">
        {[...tabs, ...(isStation ? stationTabs : [])].map(([path, title]) => (
          <a
            key={path}
            href={deviceHref(device, `grid-support/${path}`)}
            aria-current={path === page || (isFunction && title === 'Functions') ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {device === undefined ? <Empty>No device to show.</Empty> : <Page device={device} page={page} />}
    </>
  );
}

function Page({ device, page }: { readonly device: number; readonly page: string }) {
  const controls = useLive(get('controls', { query: { device } })).data;
  switch (page) {
    case 'why':
      return <Why device={device} />;
    case 'holds':
      return <Holds device={device} />;
    case 'changes':
      return <Changes device={device} />;
    case 'der-controls':
      return <DerControls device={device} />;
    case 'gradient':
      return <Gradient device={device} />;
    default:
      return <Functions device={device} page={page} controls={controls} />;
  }
}

function Functions({
  device,
  page,
  controls,
}: {
  readonly device: number;
  readonly page: string;
  readonly controls: Controls | undefined;
}) {
  const { data, problem } = useLive(get('grid-support', { query: { device } }));
  const present = useLive(get('grid-support/trace', { query: { device, limit: 0 } })).data?.now;
  if (!data) return <Empty>{problem?.message ?? 'No data yet.'}</Empty>;
  const all = data as unknown as Readonly<Record<string, Settings | undefined>>;
  const entry = functions.find(({ name }) => pathOf(name) === page) ?? functions[0];
  const settings = entry && all[entry.name];
  return (
    <div class="grid-support">
      <FunctionList device={device} all={all} controls={controls} chosen={entry?.name ?? ''} />
      <div class="stack">
        {entry && settings?.['supported'] === true ? (
          <FunctionPage device={device} entry={entry} settings={settings} now={present} />
        ) : (
          <Empty>This device does not have this function: its profile leaves it out.</Empty>
        )}
      </div>
    </div>
  );
}

function FunctionPage(props: PageProps) {
  const { device, entry, settings } = props;
  if (entry.kind === 'curve') return <CurvePage key={`${device} ${entry.name}`} {...props} />;
  if (entry.kind === 'trip') return <TripPage key={`${device} ${entry.name}`} {...props} />;
  if (entry.kind === 'droop') return <DroopPage key={device} {...props} />;
  return <FunctionValues device={device} entry={entry} settings={settings} />;
}
