import type { ComponentType } from 'preact';
import { get } from '../../../api/call';
import { Refused } from '../../../kit/action';
import { DevicePicker } from '../../../kit/choices';
import { Chip, Empty } from '../../../kit/panel';
import type { Tab } from '../../../kit/tabs';
import { words } from '../../../look/format';
import { useDevice } from '../../../store/site';
import { useLive } from '../../../store/live';
import { partOf, Parts } from '../page';
import type { Page } from '../page';
import { settingsPart } from '../switch';
import { ConnectHeadEnd } from './connect';
import { Events } from './events';
import { CsipMessages, CsipSequence } from './messages';
import { Reports } from './reports';
import { Settings } from './settings';
import { State, stateTone } from './state';
import type { PartProps } from './state';

/** A part about the client of the chosen device. */
function ofClient(path: string, title: string, Part: ComponentType<PartProps>): Tab {
  function OfClient() {
    const index = useDevice()?.device_index;
    const { data: status, problem } = useLive(
      index === undefined ? null : get('csip/status', { query: { device: index } }),
      1000,
    );
    const isOff = status?.enabled === false;
    return (
      <>
        <div class="title">
          <DevicePicker />
          {status && <Chip tone={stateTone(status.state)}>{words(status.state)}</Chip>}
        </div>
        <Refused problem={problem} />
        {isOff && <Empty>The CSIP client is off.</Empty>}
        {status && !isOff && index !== undefined && <Part key={index} device={index} status={status} />}
      </>
    );
  }
  return { path, title, component: OfClient };
}

/** The client of IEEE 2030.5: its connection, events, reports, settings and messages. */
export const csipPage: Page = {
  path: 'csip',
  title: 'CSIP',
  whenOff: 'connect',
  parts: [
    ofClient('state', 'State', State),
    ofClient('events', 'Events', Events),
    ofClient('reports', 'Reports', Reports),
    ofClient('messages', 'Messages', CsipMessages),
    ofClient('sequence', 'Sequence', CsipSequence),
    ofClient('client', 'Client', Settings),
    settingsPart('csip'),
    { path: 'connect', title: 'Connect', component: ConnectHeadEnd, switchesOn: true },
  ],
};

/** The client alone, for the page on its own port. */
export const CsipView = () => <Parts page={csipPage} part={partOf(csipPage, false)} />;
