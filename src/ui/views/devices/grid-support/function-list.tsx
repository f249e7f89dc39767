/** The functions of a device: those that act now, those that are on, and those that are off. */
import { anyCall } from '../../../api/call';
import { Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { say } from '../../../kit/notice';
import { Chip, Panel } from '../../../kit/panel';
import { remaining, sourceName, timeOfDay } from '../../../look/format';
import { deviceHref } from '../../../store/route';
import { functions, pathOf } from './functions';
import type { FunctionEntry, Settings } from './functions';
import { hasDraft } from './points';
import type { Controls } from './why';

type Mode = Controls['modes'][keyof Controls['modes']];

interface ListProps {
  readonly device: number;
  readonly all: Readonly<Record<string, Settings | undefined>>;
  readonly controls: Controls | undefined;
  readonly chosen: string;
}

const groups = ['Acts now', 'On', 'Off'] as const;

/** All functions with switch, state and writer; those that the device does not have are folded. */
export function FunctionList({ device, all, controls, chosen }: ListProps) {
  const modeOf = ({ mode }: FunctionEntry) => controls?.modes[mode];
  const groupOf = (entry: FunctionEntry) =>
    modeOf(entry)?.active ? 'Acts now' : all[entry.name]?.['enabled'] === true ? 'On' : 'Off';
  const isSupported = ({ name }: FunctionEntry) => all[name]?.['supported'] === true;
  const supported = functions.filter(isSupported);
  const others = functions.filter((entry) => !isSupported(entry));
  const listOf = (title: string, entries: readonly FunctionEntry[]) => (
    <ul class="functions" aria-label={title}>
      {entries.map((entry) => (
        <Row
          key={entry.name}
          device={device}
          entry={entry}
          settings={all[entry.name]}
          mode={modeOf(entry)}
          chosen={entry.name === chosen}
        />
      ))}
    </ul>
  );
  return (
    <Panel title="Functions" flush>
      {groups.map((group) => {
        const entries = supported.filter((entry) => groupOf(entry) === group);
        return (
          entries.length > 0 && (
            <div key={group} class="function-group">
              <h3>{group}</h3>
              {listOf(group, entries)}
            </div>
          )
        );
      })}
      {others.length > 0 && (
        <details class="function-group" open={others.some(({ name }) => name === chosen)}>
          <summary>{others.length} not used by this device</summary>
          {listOf('Not used by this device', others)}
        </details>
      )}
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
  const callFor = (on: boolean) => anyCall('POST', `grid-support/${pathOf(name)}`, { device }, { enabled: on });
  const call = callFor(!enabled);
  const turn = async () => {
    if ((await run(call)) === undefined) return;
    say(`${title} ${enabled ? 'off' : 'on'}`, () => void run(callFor(enabled)));
  };
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
            void turn();
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
        {mode === undefined ? '' : sourceName(mode.source)}
        {mode?.changed_at ? ` ${timeOfDay(mode.changed_at)}` : ''}
      </span>
      {mode?.reversion_remaining_s != null && <span>reverts in {remaining(mode.reversion_remaining_s)}</span>}
    </>
  );
}
