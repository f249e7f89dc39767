/** Gaps of a page at the gateway of a fleet: devices of lost shards, and views that a gateway does not serve. */
import type { ComponentChildren } from 'preact';
import { get } from '../api/call';
import type { Call } from '../api/call';
import { Empty } from '../kit/panel';
import { ViewHead } from '../kit/tabs';
import { rangeText, useIsGateway, useMissing } from '../store/fleet';
import { gatewaySentence, isRefusedByGateway, useShared } from '../store/live';
import { href, route } from '../store/route';

/** Announces devices whose shard does not answer. */
export function MissingShards() {
  const missing = useMissing();
  if (missing.length === 0) return null;
  const count = missing.reduce((sum, shard) => sum + shard.count, 0);
  const names = missing.map((shard) => `${shard.shard} (${rangeText(shard.first, shard.count)})`);
  return (
    <p class="banner" role="alert">
      {count} {count === 1 ? 'device is' : 'devices are'} missing in lists and sums: no answer of shard{' '}
      {names.slice(0, 5).join(', ')}
      {names.length > 5 && ` and ${names.length - 5} more`}. <a href={href('fleet')}>Fleet</a>
    </p>
  );
}

/** Views without use where a gateway refuses this call; `inputs/clock` and the like are tabs. */
const neededBy: readonly (readonly [path: string, call: Call])[] = [
  ['scenarios', get('scenarios')],
  ['settings', get('settings')],
  ['state', get('state')],
  ['inputs/clock', get('controls/time')],
  ['inputs/site', get('site')],
  ['events/captures', get('captures')],
  ['devices/site', get('site/registers')],
  ['protocols/sunspec-client', get('sunspec-client')],
];

/** A view, or the sentence of the gateway that does not serve it. */
export function AtGateway({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const isGateway = useIsGateway();
  const path = route.value.path.join('/');
  const call = neededBy.find(([start]) => path === start || path.startsWith(`${start}/`))?.[1] ?? null;
  const problem = useShared(isGateway ? call : null, 'once').problem;
  if (problem === null || !isRefusedByGateway(problem)) return <>{children}</>;
  return (
    <>
      <ViewHead title={title} />
      <Empty>{gatewaySentence(problem)}</Empty>
      <p>
        <a href={href('fleet')}>Shards of the fleet</a>
        {path.includes('/') && (
          <>
            {', '}
            <a href={href(path.split('/')[0] ?? '')}>{title}</a>
          </>
        )}
      </p>
    </>
  );
}
