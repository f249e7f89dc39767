import type { ComponentType } from 'preact';
import { href, route } from '../../store/route';
import { CsipView } from '../csip/csip';
import { Dnp3View } from '../dnp3/dnp3';
import { ModbusView } from '../modbus/modbus';
import { OcppView } from '../ocpp/ocpp';
import { SunspecClientView } from '../sunspec-client/sunspec-client';

const tabs: readonly { readonly path: string; readonly title: string; readonly component: ComponentType }[] = [
  { path: 'modbus', title: 'Modbus', component: ModbusView },
  { path: 'csip', title: 'CSIP', component: CsipView },
  { path: 'ocpp', title: 'OCPP', component: OcppView },
  { path: 'dnp3', title: 'DNP3', component: Dnp3View },
  { path: 'sunspec-client', title: 'SunSpec client', component: SunspecClientView },
];

/** Peers of the simulator and their messages, one page per protocol. */
export function ProtocolsView() {
  const [, name = 'modbus'] = route.value.path;
  const tab = tabs.find(({ path }) => path === name) ?? tabs[0];
  const Tab = tab?.component;
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
        {Tab && <Tab />}
      </div>
    </>
  );
}
