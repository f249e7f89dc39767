import { useEffect, useState } from 'preact/hooks';
import { KindIcon } from '../../kit/kind-icons';
import { Panel } from '../../kit/panel';
import { Mark, Row, Rows } from '../../kit/rows';
import { show } from '../../look/format';
import { changes } from '../../store/live';
import { deviceHref, href } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { conditionOf } from '../devices/condition';
import type { Site } from './balance';
import { askedFor, controlled, readAnswers, rowsOf } from './control';
import type { ControlRow } from './control';

const maxRows = 5;

/** Limits of the site that do not act, in words. */
function idleLimits(site: Site): readonly (readonly [name: string, kw: number, owner: string | null])[] {
  return (['export', 'import', 'generation', 'load'] as const).flatMap((name) => {
    const kw = site[`${name}_limit_kw`];
    return kw === null || site.binding.includes(name) ? [] : [[name, kw, site[`${name}_limit_owner`]] as const];
  });
}

/** Time after which the rows are read again without a change, ms. */
const unchangedMs = 15_000;

/** Rows that are read again when a limit has come or gone, the timeline has a new entry, and every 15 s. */
function useControlRows(devices: readonly DeviceEntry[]): readonly ControlRow[] | null {
  const [rows, setRows] = useState<readonly ControlRow[] | null>(null);
  const conditions = devices.map((device) => conditionOf(device, undefined));
  const key = controlled(conditions)
    .map(({ device, limitedBy, state }) => `${device.device_index} ${limitedBy} ${state}`)
    .join();
  const changed = changes.value;
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isLeft = false;
    void readAnswers(askedFor(conditions)).then((answers) => {
      if (!isLeft) setRows(rowsOf(answers, conditions));
    });
    const timer = setTimeout(() => {
      // a page that is shown again counts a change
      if (!document.hidden) setTurn(turn + 1);
    }, unchangedMs);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [key, changed, turn]);
  return rows;
}

/** Which limits hold the power of devices, and who set them. */
export function ControlCard({ devices, site }: { readonly devices: readonly DeviceEntry[]; readonly site: Site }) {
  const rows = useControlRows(devices);
  const idle = idleLimits(site);
  return (
    <Panel title="Who controls what" tools={<a href={href('devices', { filter: ':limited' })}>All</a>}>
      {rows?.length === 0 && idle.length === 0 && (
        <p class="muted">Nothing limits: sources give what they have, and nobody forces a device.</p>
      )}
      <Rows label="Who controls what">
        {(rows ?? []).slice(0, maxRows).map(({ key, kind, title, value, text, device, connector = null }) => (
          <Row
            key={key}
            start={<KindIcon of={kind} />}
            title={<a href={deviceHref(device, 'picture', { connector })}>{title}</a>}
            end={value}
            isEndFigure
          >
            {text}
          </Row>
        ))}
        {idle.map(([name, kw, owner]) => (
          <Row
            key={name}
            muted
            start={<Mark level="off" />}
            title={<a href={href('inputs/site')}>Site, {name} limit</a>}
            end={show(kw, 'activePower')}
            isEndFigure
          >
            {owner === null ? '' : `Owner ${owner}, `}not reached
          </Row>
        ))}
      </Rows>
    </Panel>
  );
}
