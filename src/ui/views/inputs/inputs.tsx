import '../../look/inputs.css';
import { CommandsPanel, LocalPanel } from './commands';
import { DevicesPanel, SimulatorPanel } from './devices';
import { EnvironmentPanel, ShadingPanel, WindPanel } from './environment';
import { EventPanel, GridPanel } from './grid';
import { SitePanel } from './site';
import { TimePanel } from './time';

/** What surrounds the devices and what an operator does to them: who set what, and the forms that change it. */
export function InputsView() {
  return (
    <>
      <div class="inputs">
        <GridPanel />
        <EventPanel />
        <EnvironmentPanel />
        <TimePanel />
        <WindPanel />
        <ShadingPanel />
        <LocalPanel />
        <SimulatorPanel />
      </div>
      <SitePanel />
      <CommandsPanel />
      <DevicesPanel />
    </>
  );
}
