import { PageTabs, ViewHead } from '../../kit/tabs';
import { route } from '../../store/route';
import { Cards } from './cards';
import { csipPage } from './csip/csip';
import { dnp3Page } from './dnp3/dnp3';
import { modbusPage } from './modbus/modbus';
import { ocppPage } from './ocpp/ocpp';
import { partOf, Parts } from './page';
import type { Page } from './page';
import { sunspecClientPage } from './sunspec-client/sunspec-client';
import { SwitchOff, SwitchOn, useProtocol } from './switch';

const pages: readonly Page[] = [modbusPage, csipPage, ocppPage, dnp3Page, sunspecClientPage];
const tabs = [{ path: 'all', title: 'All', component: Cards }, ...pages.map((page) => ({ ...page, component: Cards }))];

/** Peers of the simulator and their messages: a card and a page for each protocol. */
export default function Protocols() {
  const [, name] = route.value.path;
  const page = pages.find(({ path }) => path === name);
  return (
    <>
      <ViewHead title="Protocols">{page && <Off path={page.path} />}</ViewHead>
      <PageTabs
        label="Protocols"
        base="protocols"
        tabs={tabs}
        chosen={tabs.find(({ path }) => path === name) ?? tabs[0]}
      />
      {page ? <ProtocolPage key={page.path} page={page} /> : <Cards />}
    </>
  );
}

/** The switch of a protocol that is on. */
function Off({ path }: { readonly path: string }) {
  const protocol = useProtocol(path);
  return protocol?.isOn ? <SwitchOff {...protocol} /> : null;
}

function ProtocolPage({ page }: { readonly page: Page }) {
  const protocol = useProtocol(page.path);
  const isOff = protocol?.isOn === false;
  const part = partOf(page, isOff);
  return (
    <div class="view">
      <Parts page={page} part={part} />
      {protocol && isOff && part?.switchesOn !== true && <SwitchOn {...protocol} />}
    </div>
  );
}
