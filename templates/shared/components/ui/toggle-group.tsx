"use client";

import * as React from "react";
import { type VariantProps } from "class-variance-authority";
import { ToggleGroup as Primitive } from "radix-ui";

import { toggleVariants } from "@/components/ui/toggle";
import { cn } from "@/lib/utils";

type Look = VariantProps<typeof toggleVariants>;
const LookContext = React.createContext<Look>({});

function ToggleGroup({
  className,
  variant,
  size,
  children,
  ...props
}: React.ComponentProps<typeof Primitive.Root> & Look) {
  return (
    <Primitive.Root
      data-slot="toggle-group"
      className={cn("flex w-fit items-center rounded-md", variant === "outline" && "shadow-xs", className)}
      {...props}
    >
      <LookContext.Provider value={{ variant, size }}>{children}</LookContext.Provider>
    </Primitive.Root>
  );
}

function ToggleGroupItem({ className, variant, size, ...props }: React.ComponentProps<typeof Primitive.Item> & Look) {
  const group = React.useContext(LookContext);
  return (
    <Primitive.Item
      data-slot="toggle-group-item"
      className={cn(
        toggleVariants({ variant: group.variant ?? variant, size: group.size ?? size }),
        "min-w-0 flex-1 rounded-none shadow-none first:rounded-l-md last:rounded-r-md focus:z-10",
        (group.variant ?? variant) === "outline" && "border-l-0 first:border-l",
        className,
      )}
      {...props}
    />
  );
}

export { ToggleGroup, ToggleGroupItem };
