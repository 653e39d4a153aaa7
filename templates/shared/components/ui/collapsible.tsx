"use client";

import * as React from "react";
import { Collapsible as Primitive } from "radix-ui";

function Collapsible(props: React.ComponentProps<typeof Primitive.Root>) {
  return <Primitive.Root data-slot="collapsible" {...props} />;
}

function CollapsibleTrigger(props: React.ComponentProps<typeof Primitive.CollapsibleTrigger>) {
  return <Primitive.CollapsibleTrigger data-slot="collapsible-trigger" {...props} />;
}

function CollapsibleContent(props: React.ComponentProps<typeof Primitive.CollapsibleContent>) {
  return <Primitive.CollapsibleContent data-slot="collapsible-content" {...props} />;
}

export { Collapsible, CollapsibleContent, CollapsibleTrigger };
