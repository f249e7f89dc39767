import '../../look/grid-support.css';
import { get } from '../../api/call';
import { DevicePicker } from '../../kit/device-picker';
import { Empty } from '../../kit/panel';
import { useLive } from '../../store/live';
import { href, route } from '../../store/route';
import { useDevice } from '../../store/site';
import { Changes, Gradient } from './changes';
import { CurvePage } from './curve-page';
import type { PageProps } from './curve-page';
import { DroopPage } from './droop-page';
import { FunctionList } from './function-list';
import { functions, pathOf } from './functions';
import type { Settings } from './functions';
import { Holds } from './holds';
import { TripPage } from './trip-page';
import { FunctionValues } from './values-form';
import { Why } from './why';
import { WhyLine } from './why-line';

const tabs = [
  ['volt-var', 'Functions'],
  ['why', 'Why'],
  ['holds', 'Holds'],
  ['changes', 'Changes'],
  ['gradient', 'Gradient'],
] as const;

/** Functions of grid support: settings, writers, and the deciding one. */
export function GridSupportView() {
  const device = useDevice()?.device_index;
  const [, page = 'volt-var'] = route.value.path;
  const isFunction = functions.some(({ name }) => pathOf(name) === page);
  return (
    <>
      <div class="title">
        <h1>Grid support</h1>
        <DevicePicker />
        {device !== undefined && <WhyLine device={device} />}
      </div>
      <nav class="tabs" aria-label="Grid support">
        {tabs.map(([path, title]) => (
          <a
            key={path}
            href={href(`grid-support/${path}`)}
            aria-current={path === page || (isFunction && title === 'Functions') ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {device === undefined ? <Empty>No device yet.</Empty> : <Page device={device} page={page} />}
    </>
  );
}

function Page({ device, page }: { readonly device: number; readonly page: string }) {
  const controls = useLive(get('controls', { query: { device } })).data;
  switch (page) {
    case 'why':
      return <Why device={device} controls={controls} />;
    case 'holds':
      return <Holds device={device} />;
    case 'changes':
      return <Changes device={device} />;
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
  readonly controls: Parameters<typeof Why>[0]['controls'];
}) {
  const { data, problem } = useLive(get('grid-support', { query: { device } }));
  const present = useLive(get('grid-support/trace', { query: { device, limit: 0 } })).data?.now;
  if (!data) return <Empty>{problem?.message ?? 'Nothing known yet.'}</Empty>;
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
