import { PageTabs, tabAt, ViewHead } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { route } from '../../store/route';
import { ConnectHeadEnd } from './csip/connect';
import { CsipView } from './csip/csip';
import { Dnp3View } from './dnp3/dnp3';
import { ModbusView } from './modbus/modbus';
import { ConnectCentralSystem } from './ocpp/connect';
import { OcppView } from './ocpp/ocpp';
import { SunspecClientView } from './sunspec-client/sunspec-client';
import { SwitchOff, SwitchOn, useProtocol } from './switch';

interface ProtocolTab extends Tab {
  /** shown while the protocol is off; absent: `component` */
  readonly off?: Tab['component'];
}

const tabs: readonly ProtocolTab[] = [
  { path: 'modbus', title: 'Modbus', component: ModbusView },
  { path: 'csip', title: 'CSIP', component: CsipView, off: ConnectHeadEnd },
  { path: 'ocpp', title: 'OCPP', component: OcppView, off: ConnectCentralSystem },
  { path: 'dnp3', title: 'DNP3', component: Dnp3View },
  { path: 'sunspec-client', title: 'SunSpec client', component: SunspecClientView },
];

/** Peers of the simulator and their messages, one page per protocol. */
export default function Protocols() {
  const tab = tabAt(tabs, route.value.path[1]);
  const protocol = useProtocol(tab?.path ?? '');
  const isOff = protocol?.isOn === false;
  const Content = isOff ? (tab?.off ?? tab?.component) : tab?.component;
  return (
    <>
      <ViewHead title="Protocols" />
      <PageTabs label="Protocols" base="protocols" tabs={tabs} chosen={tab} />
      <div class="view" key={tab?.path}>
        {protocol && !isOff && <SwitchOff {...protocol} />}
        {Content && <Content />}
        {protocol && isOff && <SwitchOn {...protocol} />}
      </div>
    </>
  );
}
