import type { ComponentType } from 'preact';
import { href, route } from '../../store/route';
import { ConnectHeadEnd } from './csip/connect';
import { CsipView } from './csip/csip';
import { Dnp3View } from './dnp3/dnp3';
import { ModbusView } from './modbus/modbus';
import { ConnectCentralSystem } from './ocpp/connect';
import { OcppView } from './ocpp/ocpp';
import { SunspecClientView } from './sunspec-client/sunspec-client';
import { SwitchOff, SwitchOn, useProtocol } from './switch';

interface Tab {
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType;
  /** shown while the protocol is off; absent: `component` */
  readonly off?: ComponentType;
}

const tabs: readonly Tab[] = [
  { path: 'modbus', title: 'Modbus', component: ModbusView },
  { path: 'csip', title: 'CSIP', component: CsipView, off: ConnectHeadEnd },
  { path: 'ocpp', title: 'OCPP', component: OcppView, off: ConnectCentralSystem },
  { path: 'dnp3', title: 'DNP3', component: Dnp3View },
  { path: 'sunspec-client', title: 'SunSpec client', component: SunspecClientView },
];

/** Peers of the simulator and their messages, one page per protocol. */
export function ProtocolsView() {
  const [, name = 'modbus'] = route.value.path;
  const tab = tabs.find(({ path }) => path === name) ?? tabs[0];
  const protocol = useProtocol(name);
  const isOff = protocol?.isOn === false;
  const Content = isOff ? (tab?.off ?? tab?.component) : tab?.component;
  return (
    <>
      <nav class="tabs" aria-label="Protocols">
        {tabs.map(({ path, title }) => (
          <a key={path} href={href(`protocols/${path}`)} aria-current={path === tab?.path ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="view" key={tab?.path}>
        {protocol && !isOff && <SwitchOff {...protocol} />}
        {Content && <Content />}
        {protocol && isOff && <SwitchOn {...protocol} />}
      </div>
    </>
  );
}
