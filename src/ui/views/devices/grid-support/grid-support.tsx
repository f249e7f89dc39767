import { get } from '../../../api/call';
import { Empty } from '../../../kit/panel';
import { useLive } from '../../../store/live';
import { deviceHref, route } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { Changes, Gradient } from './changes';
import { CurvePage } from './curve-page';
import type { PageProps } from './curve-page';
import { DerControls } from './der-controls';
import { DroopPage } from './droop-page';
import { FunctionList } from './function-list';
import { functions, pathOf } from './functions';
import type { Settings } from './functions';
import { Holds } from './holds';
import { TripPage } from './trip-page';
import { FunctionValues } from './values-form';
import { Why, WhyLine } from './why';
import type { Controls } from './why';

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
