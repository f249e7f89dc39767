/** The fleet of a gateway: sums, shards as tiles, and a map of all devices. */
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Chip, Empty, Facts, Panel } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { ViewHead } from '../../kit/tabs';
import { duration, fixed, show } from '../../look/format';
import { rangeText } from '../../store/fleet';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { useOverview } from '../../store/site';
import { MapPanel } from './map';

type Fleet = ReplyOf<'fleet'>;
type Shard = ReplyOf<'fleet/shards'>['shards'][number];

const paceMs = 2000;

/** Age from which a tick is old while the others go on, s. */
const staleS = 10;

/** The shard that lives and whose newest tick is the oldest. */
export function slowestOf(shards: readonly Shard[]): Shard | undefined {
  const ticking = shards.filter(({ state, tick_age_s: age }) => state === 'live' && age !== null);
  return ticking.toSorted((a, b) => (b.tick_age_s ?? 0) - (a.tick_age_s ?? 0))[0];
}

function Sums({ fleet, shards }: { readonly fleet: Fleet; readonly shards: readonly Shard[] }) {
  const slowest = slowestOf(shards);
  const { tick_span: span } = fleet;
  return (
    <Panel title="Fleet">
      <Facts
        rows={[
          ['Devices', fleet.devices],
          ['Active power', show(fleet.power_kw, 'activePower')],
          ['Reactive power', show(fleet.reactive_power_kvar, 'reactivePower')],
          ['Shards', `${fleet.shards_live} live, ${fleet.shards_lost} lost`],
          [
            'Ticks',
            span === null
              ? 'none yet'
              : span.lowest === span.highest
                ? span.highest
                : `${span.lowest} to ${span.highest}`,
          ],
          ['Ticks missed', fleet.ticks_missed],
          ['Left out of the stream', fleet.stream_ticks_dropped],
          slowest === undefined ? null : ['Oldest tick', `shard ${slowest.shard}, ${duration(slowest.tick_age_s)}`],
          [
            'Server',
            <>
              {fleet.server} <Chip tone={fleet.state === 'connected' ? 'good' : 'bad'}>{fleet.state}</Chip>
            </>,
          ],
          ['Subjects', `${fleet.prefix}.*`],
        ]}
      />
      {fleet.state !== 'connected' && (
        <p class="problem" role="alert">
          The gateway has no connection to the server of the fleet: values are the last ones that came.
        </p>
      )}
    </Panel>
  );
}

function stateOf({ state, tick, tick_age_s: age }: Shard): readonly [tone: 'good' | 'warn' | 'bad', word: string] {
  if (state === 'lost') return ['bad', '× lost'];
  if (tick === null) return ['warn', '△ no tick yet'];
  return age !== null && age > staleS ? ['warn', `△ tick ${duration(age)} old`] : ['good', '● live'];
}

/** Address of the list with the devices of a shard. */
function devicesHref({ first, room }: Shard, isCut: boolean): string {
  return href(
    'devices',
    isCut ? { after: first === 0 ? null : first - 1 } : { filter: `${first}-${first + room - 1}` },
  );
}

function Tile({ shard, isCut }: { readonly shard: Shard; readonly isCut: boolean }) {
  const [tone, word] = stateOf(shard);
  const name = { name: shard.shard };
  return (
    <li class={`shard ${tone}`} aria-label={`Shard ${shard.shard}`}>
      <h3>
        {shard.shard} <Chip tone={tone}>{word}</Chip>
      </h3>
      <p>
        {rangeText(shard.first, shard.count)}
        {shard.room > shard.count && <span class="muted">, room for {shard.room}</span>}
      </p>
      <Facts
        rows={[
          ['Tick', shard.tick === null ? 'none' : `${shard.tick}, ${duration(shard.tick_age_s)} ago`],
          ['Missed, late', `${shard.ticks_missed}, ${shard.late_slots ?? 0}`],
          ['Rate reached', shard.rate_effective === null ? 'none' : `×${fixed(shard.rate_effective, 1)}`],
          ['Process', `${shard.pid} on ${shard.host}, ${shard.version}`],
          shard.state === 'lost' ? ['Last seen', `${duration(shard.seen_s)} ago`] : null,
        ]}
      />
      <div class="row">
        <a class="button" href={devicesHref(shard, isCut)}>
          Devices
        </a>
        {shard.http !== null && (
          <a class="button" href={`http://${shard.http}/`} rel="noreferrer" title="Dashboard of the shard itself">
            {shard.http}
          </a>
        )}
        <Action
          call={post('fleet/shards/{name}/stop', { params: name, body: { reason: 'stopped in the dashboard' } })}
          confirm={`Stop the shard ${shard.shard}? The connections of ${rangeText(shard.first, shard.count)} end.`}
          unable={shard.state === 'lost' ? 'The shard is lost.' : null}
        >
          Stop {shard.shard}
        </Action>
      </div>
    </li>
  );
}

function Shards({ shards }: { readonly shards: readonly Shard[] }) {
  const isCut = useOverview()?.devices_truncated ?? false;
  return (
    <Panel title={`Shards (${shards.length})`} wide>
      {shards.length === 0 ? (
        <Empty>No shard has joined yet: start one with --fleet and --shard, or the gateway with --workers.</Empty>
      ) : (
        <ul class="shards">
          {shards.map((shard) => (
            <Tile key={shard.shard} shard={shard} isCut={isCut} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The fleet, at its gateway. */
export default function FleetView() {
  const { data: fleet, problem } = useLive(get('fleet'), paceMs);
  const { data: list } = useLive(get('fleet/shards'), paceMs);
  return (
    <>
      <ViewHead title="Fleet" />
      {problem !== null && <Empty>{problem.message}</Empty>}
      {problem === null && (fleet === undefined || list === undefined) && <Loading heights={[180, 240, 400]} />}
      {fleet !== undefined && list !== undefined && (
        <>
          <Sums fleet={fleet} shards={list.shards} />
          <Shards shards={list.shards} />
          <MapPanel />
        </>
      )}
    </>
  );
}
