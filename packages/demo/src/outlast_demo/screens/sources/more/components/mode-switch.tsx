"use client";

import { useState } from "react";
import { Moon, Sun } from "lucide-react";

import { Button } from "@/components/ui/button";

export function ModeSwitch() {
  const [light, setLight] = useState(false);

  function toggle() {
    document.documentElement.classList.toggle("dark", light);
    setLight(!light);
  }

  return (
    <Button
      variant="outline"
      size="icon-lg"
      onClick={toggle}
      aria-label={light ? "Switch to dark mode" : "Switch to light mode"}
      className="fixed right-5 bottom-5 z-50 rounded-full bg-card/80 shadow-xl backdrop-blur"
    >
      {light ? <Moon /> : <Sun />}
    </Button>
  );
}
