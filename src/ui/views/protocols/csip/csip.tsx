import type { ComponentType } from 'preact';
import { get } from '../../../api/call';
import { Refused } from '../../../kit/action';
import { Parts, DevicePicker } from '../../../kit/choices';
import { Chip, Empty } from '../../../kit/panel';
import { words } from '../../../look/format';
import { param } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { useLive } from '../../../store/live';
import { ConnectHeadEnd } from './connect';
import { Events } from './events';
import { CsipMessages } from './messages';
import { Reports } from './reports';
import { Settings } from './settings';
import { State, stateTone } from './state';
import type { PartProps } from './state';

const parts: readonly {
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType<PartProps>;
}[] = [
  { name: 'state', title: 'State', component: State },
  { name: 'events', title: 'Events', component: Events },
  { name: 'reports', title: 'Reports', component: Reports },
  { name: 'settings', title: 'Settings', component: Settings },
  { name: 'messages', title: 'Messages', component: CsipMessages },
  { name: 'connect', title: 'Head-end', component: ConnectHeadEnd },
];

/** The IEEE 2030.5 client of a device: its connection, events, reports, settings and messages. */
export function CsipView() {
  const index = useDevice()?.device_index;
  const { data: status, problem } = useLive(
    index === undefined ? null : get('csip/status', { query: { device: index } }),
    1000,
  );
  const part = parts.find(({ name }) => name === param('csip-part')) ?? parts[0];
  const Part = part?.component;
  const isOff = status?.enabled === false;
  return (
    <>
      <div class="title">
        <DevicePicker />
        {status && <Chip tone={stateTone(status.state)}>{words(status.state)}</Chip>}
      </div>
      <Refused problem={problem} />
      {isOff && <Empty>The CSIP client is off.</Empty>}
      {status && !isOff && index !== undefined && (
        <>
          <Parts label="Parts of the client" name="csip-part" parts={parts} chosen={part?.name} />
          {Part && <Part key={`${index} ${part.name}`} device={index} status={status} />}
        </>
      )}
    </>
  );
}
