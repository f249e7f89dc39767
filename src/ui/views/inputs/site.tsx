/** Limits at the connection points as sliders. */
import { useState } from 'preact/hooks';
import { anyCall, get } from '../../api/call';
import type { Call, ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { DeviceList } from '../../kit/device-list';
import { InPlaceButton, InPlaceSlider } from '../../kit/in-place';
import { Chip, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { capitalized, show } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { scaleFor } from './scale';
import { Writer } from './scope';

type Site = ReplyOf<'site/scopes'>['scopes'][number];
type Owner = Site['owners'][number];

const limits = ['export', 'import', 'generation', 'load'] as const;
type Limit = (typeof limits)[number];

const meanings: Readonly<Record<Limit, string>> = {
  export: 'to the grid, at most',
  import: 'from the grid, at most',
  generation: 'of all devices that generate, at most',
  load: 'of all devices that consume, at most',
};

/** Owner of the limits that this page sets; a name is added after a colon. */
const restOwner = 'rest';
const isOfRest = (owner: string) => owner === restOwner || owner.startsWith(`${restOwner}:`);
const nameOfOwner = (owner: string) => (owner === restOwner ? null : owner.slice(restOwner.length + 1));

/** @param owner such as `rest:feeder` */
function limitCall(
  devices: readonly number[] | null,
  owner: string,
  values: Partial<Record<Limit, number | null>>,
): Call {
  const name = nameOfOwner(owner);
  return anyCall(
    'POST',
    'site',
    {},
    {
      ...Object.fromEntries(Object.entries(values).map(([limit, kw]) => [`${limit}_limit_kw`, kw])),
      ...(name !== null && { owner: name }),
      ...(devices !== null && { devices }),
    },
  );
}

/** The limits of an owner that are set. */
const setLimitsOf = (row: Owner) => limits.filter((limit) => row[`${limit}_limit_kw`] !== null);

function endCalls({ devices }: Site, row: Owner): readonly Call[] {
  return [limitCall(devices, row.owner, Object.fromEntries(setLimitsOf(row).map((limit) => [limit, null])))];
}

function restoreCalls({ devices }: Site, row: Owner): readonly Call[] {
  const values = setLimitsOf(row).map((limit) => [limit, row[`${limit}_limit_kw`]] as const);
  return [limitCall(devices, row.owner, Object.fromEntries(values))];
}

function titleOf({ devices }: Site): string {
  return devices === null ? 'Whole site' : `Devices ${devices.join(', ')}`;
}

/** Tells if a limit restricts devices. */
function LimitState({ site, limit }: { readonly site: Site; readonly limit: Limit }) {
  if (site[`${limit}_limit_kw`] === null) return null;
  if (site.exceeded.includes(limit)) return <Chip tone="bad">exceeded</Chip>;
  if (site.binding.includes(limit)) return <Chip tone="warn">limits</Chip>;
  return <Chip tone="good">not reached</Chip>;
}

interface LimitProps {
  readonly site: Site;
  readonly limit: Limit;
  /** owner whose limit the slider sets */
  readonly owner: string;
}

/** Powers that a limit bounds, kW: room on the slider. */
function presentKw(site: Site, limit: Limit): number {
  return {
    export: site.net_power_kw,
    import: site.net_power_kw,
    generation: site.generation_kw,
    load: site.consumption_kw,
  }[limit];
}

function LimitSlider({ site, limit, owner }: LimitProps) {
  const member = `${limit}_limit_kw` as const;
  const inForce = site[member];
  const set = site.owners.find((row) => row.owner === owner)?.[member] ?? null;
  const [max, setMax] = useState(10);
  const needed = scaleFor(Math.max(set ?? 0, inForce ?? 0, Math.abs(presentKw(site, limit))), 10);
  // the scale grows, but does not shrink under the hand
  if (needed > max) setMax(needed);
  const callsOf = (kw: number | null) => [limitCall(site.devices, owner, { [limit]: kw })];
  const byOther = inForce !== null && site[`${limit}_limit_owner`] !== owner;
  return (
    <InPlaceSlider
      name={`${capitalized(limit)} limit`}
      value={set}
      min={0}
      max={max}
      typedMax={1e6}
      emptyAt={max}
      placeholder="none"
      step={max / 200}
      decimals={3}
      unit="kW"
      limit={byOther ? inForce : null}
      note={
        <span class="row">
          {inForce === null ? (
            meanings[limit]
          ) : (
            <>
              {show(inForce, 'activePower')} in force, {site[`${limit}_limit_owner`]}
            </>
          )}
          <LimitState site={site} limit={limit} />
        </span>
      }
      presets={[['0 kW', 0]]}
      callsOf={callsOf}
      undo={callsOf(set)}
    >
      <InPlaceButton
        text={`${capitalized(limit)} limit: none`}
        calls={callsOf(null)}
        undo={callsOf(set)}
        pressed={set === null}
      >
        None
      </InPlaceButton>
    </InPlaceSlider>
  );
}

function Owners({ site }: { readonly site: Site }) {
  return (
    <Table<Owner>
      name={`Owners: ${titleOf(site)}`}
      rows={site.owners}
      keyOf={({ owner }) => owner}
      columns={[
        { title: 'Owner', value: ({ owner }) => owner },
        ...limits.map((limit) => ({
          title: `${capitalized(limit)}, kW`,
          cell: (row: Owner) => show(row[`${limit}_limit_kw`], 'activePower'),
          value: (row: Owner) => row[`${limit}_limit_kw`],
          numeric: true,
        })),
        { title: 'Set by', cell: ({ changed_by }) => <Writer by={changed_by} /> },
        {
          title: 'End',
          cell: (row) =>
            isOfRest(row.owner) ? (
              <InPlaceButton
                text={`Limits of ${row.owner} ended`}
                calls={endCalls(site, row)}
                undo={restoreCalls(site, row)}
              >
                End {row.owner}
              </InPlaceButton>
            ) : (
              <span class="muted">only its source can end it</span>
            ),
        },
      ]}
    />
  );
}

function Powers({ site }: { readonly site: Site }) {
  const { net_power_kw: net, generation_kw: generation, consumption_kw: consumption, load_kw: load } = site;
  return (
    <p class="state-line">
      <span class="muted">{net <= -0.005 ? 'From the grid' : 'To the grid'}</span>
      <strong>{show(Math.abs(net), 'activePower')}</strong>
      <span>
        <span class="muted">generation</span> {show(generation, 'activePower')}
      </span>
      <span>
        <span class="muted">consumption of devices</span> {show(consumption, 'activePower')}
      </span>
      <span>
        <span class="muted">load</span> {show(load, 'activePower')}
      </span>
    </p>
  );
}

function SitePanel({ site, owner }: { readonly site: Site; readonly owner: string }) {
  return (
    <Panel title={titleOf(site)}>
      <Powers site={site} />
      <div class="limits">
        {limits.map((limit) => (
          <LimitSlider key={`${owner} ${limit}`} site={site} limit={limit} owner={owner} />
        ))}
      </div>
      {site.owners.length > 0 && <Owners site={site} />}
    </Panel>
  );
}

/** A group of devices that has no limits yet. */
function emptyGroup(devices: readonly number[], whole: Site): Site {
  const none = { net_power_kw: 0, generation_kw: 0, consumption_kw: 0, load_kw: 0 };
  const unset: readonly (readonly [string, null])[] = limits.flatMap((limit) =>
    ['kw', 'owner', 'by'].map((member) => [`${limit}_limit_${member}`, null] as const),
  );
  return {
    ...whole,
    ...none,
    ...(Object.fromEntries(unset) as object),
    devices: [...devices],
    binding: [],
    exceeded: [],
    owners: [],
  };
}

/** Chooses devices whose common connection point gets limits; the address keeps them as `group`. */
function GroupChoice({ chosen }: { readonly chosen: readonly number[] }) {
  return (
    <Panel title="Limit a group of devices">
      <p class="muted">
        Choose the devices behind one connection point, such as a feeder: their limits appear above. Groups are
        disjoint, or one holds all of the other.
      </p>
      <DeviceList chosen={chosen} onChoice={(next) => setParam('group', next.join())} />
    </Panel>
  );
}

/** Limits of the site and of groups of devices. */
export function SiteTab() {
  const { data, problem } = useLive(get('site/scopes'));
  const [whole] = data?.scopes ?? [];
  const name = param('owner') ?? '';
  const owner = name === '' ? restOwner : `${restOwner}:${name}`;
  const chosen = (param('group') ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map(Number);
  const isListed = data?.scopes.some(({ devices }) => devices?.join() === chosen.join());
  const isNew = chosen.length > 0 && whole !== undefined && !isListed;
  const names = [...new Set(data?.scopes.flatMap(({ owners }) => owners.map((row) => row.owner)))].filter(isOfRest);
  return (
    <>
      <div class="row">
        <label class="row">
          <span class="muted">Set limits as owner</span>
          <input
            name="owner"
            list="owners"
            placeholder={restOwner}
            value={name}
            onChange={(event) => setParam('owner', event.currentTarget.value.trim())}
          />
        </label>
        <datalist id="owners">
          {names.map((each) => (
            <option key={each} value={nameOfOwner(each) ?? ''} />
          ))}
        </datalist>
        <small class="muted">
          A name such as feeder keeps several limits apart; the tightest one of all owners is in force.
        </small>
      </div>
      <Refused problem={problem} />
      {data?.scopes.map((site) => (
        <SitePanel key={titleOf(site)} site={site} owner={owner} />
      ))}
      {isNew && <SitePanel key={chosen.join()} site={emptyGroup(chosen, whole)} owner={owner} />}
      <GroupChoice chosen={chosen} />
    </>
  );
}
