import '../../look/inputs.css';
import { CommandsPanel, LocalPanel } from './commands';
import { DevicesPanel, SimulatorPanel } from './devices';
import { EnvironmentPanel, ShadingPanel, WindPanel } from './environment';
import { EventPanel, GridPanel } from './grid';
import { SitePanel } from './site';
import { TimePanel } from './time';

/** The environment of the devices and operator actions: values, their writers, and forms to change them. */
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
